import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "./make_folder.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("folders are made with those above them, and again without a complaint", () => {
  const path = join(temporaryFolder(), "a/b/c");
  makeFolder(path, 0o700);
  makeFolder(path, 0o755);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
});

test("a file in the way is told", () => {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, "");
  expect(() => makeFolder(path)).toThrow("EEXIST");
  expect(() => makeFolder(join(path, "below"))).toThrow("ENOTDIR");
});

test.runIf(process.platform === "linux")("where no folder can be made, it ends", () => {
  expect(() => makeFolder("/proc/turnstone/data")).toThrow("ENOENT");
});
