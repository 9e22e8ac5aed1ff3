import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describePath, leadsOut, openWorkspace, type ResolvedPath, type Workspace } from "./workspace.ts";

let base: string;
let workspace: Workspace;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "turnstone-workspace-")));
  workspace = openWorkspace(join(base, "ws"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function resolved(path: string): ResolvedPath {
  const resolution = workspace.resolve(path);
  if (!resolution.ok) throw new Error(resolution.error);
  return resolution.path;
}

test("a path is shown as a person would write it", () => {
  mkdirSync(join(workspace.root, "src"));
  expect(resolved("src/../src/./a.ts")).toEqual({
    shown: "src/a.ts",
    absolute: join(workspace.root, "src/a.ts"),
    real_path: join(workspace.root, "src/a.ts"),
    inside: true,
  });
  expect(resolved(workspace.root)).toMatchObject({ shown: ".", inside: true });
  expect(resolved("src/")).toMatchObject({ shown: "src", inside: true });
  expect(resolved("..")).toMatchObject({ shown: base, inside: false });
  expect(resolved("../ws-other")).toMatchObject({ inside: false });
  expect(resolved("~/x")).toMatchObject({ absolute: join(homedir(), "x") });
  expect(resolved("~root")).toMatchObject({ absolute: expect.stringMatching(/^\//) });
});

test("the root may be spelled through a link", () => {
  symlinkSync(workspace.root, join(base, "alias"));
  const through = openWorkspace(join(base, "alias"));
  expect(through.root).toBe(workspace.root);
  expect(through.resolve(join(base, "alias/a"))).toMatchObject({ ok: true, path: { shown: "a", inside: true } });
});

test("links are followed to the end, also where nothing is yet (FILE-07)", () => {
  symlinkSync("/nowhere/new.txt", join(workspace.root, "draft"));
  const draft = resolved("draft");
  expect(draft).toMatchObject({ real_path: "/nowhere/new.txt", inside: false });
  expect(leadsOut(draft, workspace)).toBe(true);
  expect(describePath(draft, workspace)).toBe(`${join(workspace.root, "draft")} → /nowhere/new.txt`);
  symlinkSync("deep/er/file", join(workspace.root, "inner"));
  expect(resolved("inner")).toMatchObject({ real_path: join(workspace.root, "deep/er/file"), inside: true });
  expect(describePath(resolved("inner"), workspace)).toBe("inner → deep/er/file");
  expect(leadsOut(resolved("../x"), workspace)).toBe(false);
});

test("the parent of a link is the parent of where it leads", () => {
  mkdirSync(join(base, "far/away"), { recursive: true });
  symlinkSync(join(base, "far/away"), join(workspace.root, "link"));
  expect(resolved("link/../x")).toMatchObject({ real_path: join(base, "far/x"), inside: false });
});

test("links in a circle end (FILE-31)", () => {
  symlinkSync("b", join(workspace.root, "a"));
  symlinkSync("a", join(workspace.root, "b"));
  expect(workspace.resolve("a")).toMatchObject({ ok: false, error: expect.stringContaining("circle") });
});

test.each([
  ["", "empty"],
  ["\0", "NUL"],
  ["\ud800", "Unicode"],
  ["~nobody-here/x", "no user"],
  ["file/x", "is a file"],
  ["file/..", "is a file"],
  ["file/", "not a folder"],
  ["absent/", "no such folder"],
  ["x".repeat(300), "too long"],
])("the odd path %j is an error in words (FILE-31)", (path, words) => {
  writeFileSync(join(workspace.root, "file"), "");
  expect(workspace.resolve(path)).toMatchObject({ ok: false, error: expect.stringContaining(words) });
});

test("no path leads to the server's own files, except into a workspace among them (REQ-SAFE-005)", () => {
  const data = join(base, "data");
  const guarded = openWorkspace(join(data, "workspaces/one"), { off_limits: [data, join(base, "config.toml")] });
  symlinkSync(join(data, "turnstone.db"), join(guarded.root, "link"));
  for (const path of ["../two/x", "../../turnstone.db", "link", join(base, "config.toml"), "/proc/self/environ"]) {
    expect(guarded.resolve(path)).toMatchObject({ ok: false, error: expect.stringContaining("belongs to the server") });
  }
  expect(guarded.resolve("own")).toMatchObject({ ok: true, path: { inside: true } });
  const above = openWorkspace(base, { off_limits: [data] });
  expect(above.resolve("data/turnstone.db")).toMatchObject({ ok: false });
  expect(above.resolve("data-two")).toMatchObject({ ok: true });
});

test("a folder that cannot be made stops the opening with a sentence", () => {
  writeFileSync(join(base, "file"), "");
  expect(() => openWorkspace(join(base, "file/ws"))).toThrow("cannot be opened");
});
