import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { prepareDataDirectory } from "./data_directory.ts";
import type { Config } from "./load.ts";
import { loadConfig } from "./load.ts";

let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "turnstone-data-"));
});
afterEach(() => rmSync(home, { recursive: true }));

function configFor(data_dir: string, env: Record<string, string> = {}): Config {
  const result = loadConfig({ flags: { "data-dir": data_dir }, env, cwd: home, home });
  if (!result.ok) throw new Error(result.error);
  return result.config;
}

test("the folder is for its owner alone, and the secret in it is made once", () => {
  const folder = join(home, "a/b");
  const first = prepareDataDirectory(configFor(folder));
  if (!first.ok) throw new Error(first.error);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "jwt_secret")).mode & 0o777).toBe(0o600);
  expect(first.jwt_secret).toMatch(/^[0-9a-f]{64}$/);
  chmodSync(folder, 0o755);
  expect(prepareDataDirectory(configFor(folder))).toEqual(first);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a secret of the settings is used and nothing is written", () => {
  const given = "a secret that is long enough to sign with";
  const config = configFor(join(home, "data"), { TURNSTONE_JWT_SECRET: given });
  expect(prepareDataDirectory(config)).toEqual({ ok: true, jwt_secret: given });
  expect(() => readFileSync(join(home, "data/jwt_secret"))).toThrow("ENOENT");
});

test("a kept secret that is too short is refused", () => {
  const config = configFor(join(home, "data"));
  prepareDataDirectory(config);
  writeFileSync(join(home, "data/jwt_secret"), "short\n");
  expect(prepareDataDirectory(config)).toMatchObject({
    ok: false,
    error: expect.stringContaining("at least 32 bytes"),
  });
});

test.each(["notes.txt", "workspaces"])("a folder that others use as well (%s) is left as it is", (name) => {
  const folder = join(home, "shared");
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, name), "");
  expect(prepareDataDirectory(configFor(folder))).toEqual({
    ok: false,
    error: `The data directory ${folder} cannot be used: it holds other things, to which everybody else would lose access. Choose another with --data-dir or TURNSTONE_DATA_DIR.`,
  });
  expect(statSync(folder).mode & 0o777).toBe(0o755);
  expect(readdirSync(folder)).toEqual([name]);
});

test.each([[], ["lost+found"], ["turnstone.db"], ["jwt_secret", "workspaces"]])(
  "an empty folder, and one of ours (%s), is closed to others",
  (...names) => {
    const folder = join(home, "own");
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    for (const name of names) writeFileSync(join(folder, name), "x".repeat(64));
    expect(prepareDataDirectory(configFor(folder)).ok).toBe(true);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  },
);

test("a folder that cannot be is refused in one sentence (REQ-SERVER-029)", () => {
  writeFileSync(join(home, "file"), "");
  expect(prepareDataDirectory(configFor(join(home, "file/data")))).toEqual({
    ok: false,
    error: `The data directory ${home}/file/data cannot be used: a part of its path is a file. Choose another with --data-dir or TURNSTONE_DATA_DIR.`,
  });
  expect(prepareDataDirectory(configFor(join(home, "file")))).toMatchObject({
    error: expect.stringContaining("it is a file"),
  });
});
