import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { JsonObject } from "../protocol/json.ts";
import { editFileTool } from "./edit_file.ts";
import { readFileTool } from "./read_file.ts";
import { writeFileTool } from "./write_file.ts";

const tool = writeFileTool();
let bench: ToolBench;
beforeEach(() => {
  bench = toolBench();
});
afterEach(() => bench.remove());

async function write(args: JsonObject): Promise<{ output: string; is_error: boolean }> {
  const result = await bench.call(tool, args);
  return result.prepared ? result : { output: result.error, is_error: true };
}

async function prepared(args: JsonObject) {
  const preparation = await tool.prepare(args, bench.context);
  if (!preparation.ok) throw new Error(preparation.error);
  return preparation;
}

test("a new file is shown whole and made with its folders", async () => {
  const preparation = await prepared({ path: "src/deep/a.ts", content: "one\ntwo\n" });
  expect(preparation).toMatchObject({
    header: "write_file: src/deep/a.ts (new file, 2 lines, 8 bytes)",
    preview: "one\ntwo\n",
    needs_approval: true,
    approval_label: "write_file",
    effect: "side_effect",
    subject: "src/deep/a.ts",
  });
  expect(existsSync(bench.path("src"))).toBe(false);
  expect(await bench.execute(tool, preparation.plan)).toMatchObject({
    output: "Created src/deep/a.ts (2 lines, 8 bytes).",
    effect: "done",
  });
  expect(readFileSync(bench.path("src/deep/a.ts"), "utf8")).toBe("one\ntwo\n");
});

test("a file that was written may be edited", async () => {
  await write({ path: "a", content: "x\n" });
  expect(await bench.call(editFileTool(), { path: "a", old_string: "x", new_string: "y" })).toMatchObject({
    is_error: false,
  });
});

test("replacing shows the difference, and is labelled when the file was not read (REQ-TOOL-011)", async () => {
  writeFileSync(bench.path("a"), "one\ntwo\n");
  const unread = await prepared({ path: "a", content: "one\n2\n" });
  expect(unread).toMatchObject({
    approval_label: "overwrite_file",
    preview: "@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
    destructive: true,
  });
  await bench.call(readFileTool(), { path: "a" });
  expect(await prepared({ path: "a", content: "one\n2\n" })).toMatchObject({ approval_label: "write_file", notes: [] });
  writeFileSync(bench.path("a"), "changed\n");
  expect(await prepared({ path: "a", content: "one\n2\n" })).toMatchObject({ approval_label: "overwrite_file" });
});

test("the mode is kept and nothing is left behind (FILE-05)", async () => {
  writeFileSync(bench.path("run.sh"), "x");
  chmodSync(bench.path("run.sh"), 0o751);
  await write({ path: "run.sh", content: "y" });
  expect(statSync(bench.path("run.sh")).mode & 0o7777).toBe(0o751);
  expect(readdirSync(bench.root)).toEqual(["run.sh"]);
});

test("a link inside is followed to what was shown, one that leads out is refused (FILE-06, FILE-07)", async () => {
  writeFileSync(bench.path("real"), "x");
  symlinkSync("real", bench.path("link"));
  expect((await prepared({ path: "link", content: "y" })).header).toContain("link → real");
  await write({ path: "link", content: "y" });
  expect(readFileSync(bench.path("real"), "utf8")).toBe("y");
  symlinkSync("/etc/hosts", bench.path("hosts"));
  symlinkSync("/nowhere/new.txt", bench.path("draft"));
  expect((await write({ path: "hosts", content: "y" })).output).toContain("hosts → /etc/hosts: this link leads out");
  expect((await write({ path: "draft", content: "y" })).output).toContain("draft → /nowhere/new.txt");
  symlinkSync("made/later", bench.path("inner"));
  expect((await prepared({ path: "inner", content: "y" })).header).toContain("inner → made/later");
  await write({ path: "inner", content: "z" });
  expect(readFileSync(bench.path("made/later"), "utf8")).toBe("z");
});

test("a path outside the workspace is asked for under a label of its own", async () => {
  expect(await prepared({ path: "../else/where", content: "" })).toMatchObject({
    needs_approval: true,
    approval_label: "write_outside_file",
    notes: ["This file is outside the workspace."],
  });
});

test("what changed between the yes and the run is not overwritten (FILE-23, REQ-TOOL-012)", async () => {
  writeFileSync(bench.path("a"), "old");
  const replace = await prepared({ path: "a", content: "new" });
  writeFileSync(bench.path("a"), "other");
  expect(await bench.execute(tool, replace.plan)).toMatchObject({
    is_error: true,
    output: expect.stringContaining("Read it again"),
  });
  expect(readFileSync(bench.path("a"), "utf8")).toBe("other");
  const create = await prepared({ path: "b", content: "new" });
  writeFileSync(bench.path("b"), "other");
  expect(await bench.execute(tool, create.plan)).toMatchObject({ is_error: true });
  expect(readFileSync(bench.path("b"), "utf8")).toBe("other");
});

test("two writes of one file in a batch both apply, in order", async () => {
  const first = await prepared({ path: "a", content: "1" });
  const second = await prepared({ path: "a", content: "2" });
  await bench.execute(tool, first.plan);
  expect(await bench.execute(tool, second.plan)).toMatchObject({ is_error: false });
  expect(readFileSync(bench.path("a"), "utf8")).toBe("2");
});

test("a folder that became a link since is not followed (FILE-06)", async () => {
  mkdirSync(bench.path("d"));
  const { plan } = await prepared({ path: "d/a", content: "x" });
  renameSync(bench.path("d"), bench.path("e"));
  symlinkSync("/tmp", bench.path("d"));
  expect(await bench.execute(tool, plan)).toMatchObject({
    is_error: true,
    output: expect.stringContaining("another place"),
  });
});

test.each([{ k: 1 }, [1], 3, null])(
  "content %j is refused, never written as [object Object] (FILE-29)",
  async (content) => {
    expect(await write({ path: "a.json", content })).toMatchObject({
      is_error: true,
      output: expect.stringContaining("content must be a string"),
    });
    expect(existsSync(bench.path("a.json"))).toBe(false);
  },
);

test.each([
  ["folder", "is a folder"],
  ["new/", "ends in a slash"],
  ["a\0b", "NUL"],
  ["file/x", "is a file"],
  ["~nobody-here/x", "no user"],
  [".", "is a folder"],
])("the odd path %j is an error in words (FILE-31)", async (path, words) => {
  mkdirSync(bench.path("folder"));
  writeFileSync(bench.path("file"), "");
  expect(await write({ path, content: "x" })).toMatchObject({ is_error: true, output: expect.stringContaining(words) });
});

test("text that no file can hold is refused", async () => {
  expect(await write({ path: "a", content: "\ud800" })).toMatchObject({
    is_error: true,
    output: expect.stringContaining("surrogate"),
  });
});

/** A mount of our own, so that nothing is left mounted when it works. */
function mounts(): boolean {
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("a full disk leaves the old content and says why (FILE-30)", async ({ skip }) => {
  skip(!mounts(), "a full disk takes a small tmpfs, and mounting takes root");
  mkdirSync(bench.path("disk"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", bench.path("disk")]);
  try {
    for (const name of ["disk/a", "disk/b"]) writeFileSync(bench.path(name), "old");
    execFileSync("ln", [bench.path("disk/b"), bench.path("disk/c")]);
    for (const name of ["disk/a", "disk/b"]) {
      const result = await write({ path: name, content: "x".repeat(200_000) });
      expect(result).toMatchObject({ is_error: true, output: expect.stringContaining("the disk is full") });
      expect(readFileSync(bench.path(name), "utf8")).toBe("old");
    }
    expect(readdirSync(bench.path("disk")).toSorted()).toEqual(["a", "b", "c"]);
  } finally {
    execFileSync("umount", [bench.path("disk")]);
  }
});
