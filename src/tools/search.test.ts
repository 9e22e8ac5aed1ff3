import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import { createSpawner } from "../lib/spawn.ts";
import type { JsonObject } from "../protocol/json.ts";
import { createSearch, type SearchOptions } from "./search.ts";
import { grep, searchEngines } from "./search_engine.ts";

const env = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" };
const spawner = createSpawner({ env });
afterAll(() => spawner.close());

let bench: ToolBench;
beforeEach(() => {
  bench = toolBench({ spawner });
});
afterEach(() => bench.remove());

function write(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(bench.path(path)), { recursive: true });
  writeFileSync(bench.path(path), text);
}

async function search(args: JsonObject, options: Partial<SearchOptions> = {}): Promise<string> {
  const result = await bench.call(createSearch({ env, hidden_paths: [], ...options }), args);
  return result.prepared ? result.output : `refused: ${result.error}`;
}

describe.each([
  ["ripgrep", async () => (await searchEngines()).slice(0, 1)],
  ["grep", async () => [{ ...grep, file: "no-such-ripgrep" }, grep]],
] as const)("with %s", (_name, engines) => {
  const find = async (args: JsonObject): Promise<string> => search(args, { engines: await engines() });

  test("lines come as path:line:text, sorted, with the count (REQ-TOOL-017)", async () => {
    write("b.txt", "one\ntwo foo\r\n");
    write("a/c.txt", "foo\tbar\nfoo");
    expect(await find({ query: "foo" })).toBe(
      "a/c.txt:1:foo\tbar\na/c.txt:2:foo\nb.txt:2:two foo\n\n[3 matching lines in 2 files.]",
    );
    expect(await find({ query: "foo", path: "b.txt" })).toBe("b.txt:2:two foo\n\n[1 matching line in 1 file.]");
    expect(await find({ query: "foo", path: "a" })).toContain("a/c.txt:1:foo");
  });

  test.each([
    ["[[:digit:]]+", "42"],
    ["a{2}", "xaay"],
    ["foo|bar", "bar"],
    ["\\bword\\b", "a word."],
    ["^(ab)+$", "abab"],
    ["a\\.b", "a.b"],
    ["(x)\\1", "xx"],
  ])("%s is an extended regular expression (SRCH-03)", async (query, line) => {
    write("in.txt", `nothing\n${line}\nworded\n`);
    expect(await find({ query })).toContain(`in.txt:2:${line}\n`);
  });

  test("a bad pattern is told in the engine's words (SRCH-02)", async () => {
    write("in.txt", "foo(");
    expect(await find({ query: "foo(" })).toMatch(/unclosed group|[Uu]nmatched|missing/);
  });

  test("patterns and paths that look like options are data (SRCH-10, REQ-TOOL-018)", async () => {
    write("-e.txt", "--help\n");
    write("sub/-x/f", "--help\n");
    expect(await find({ query: "--help", path: "-e.txt" })).toContain("-e.txt:1:--help");
    expect(await find({ query: "--help", path: "sub/-x" })).toContain("sub/-x/f:1:--help");
    expect(await find({ query: "-e" })).toMatch(/^\[No matches\./);
  });

  test("odd names keep their lines (SRCH-10)", async () => {
    write("a:1:b.txt", "hit\n");
    write("x\ny", "hit\n");
    expect(await find({ query: "hit" })).toBe("a:1:b.txt:1:hit\nx␊y:1:hit\n\n[2 matching lines in 2 files.]");
  });

  test("long lines are cut, floods bounded, counts honest (SRCH-05)", async () => {
    write("bundle.js", `${"var foo;".repeat(600_000)}\n`);
    write("many.txt", "foo\n".repeat(1000));
    const text = await find({ query: "foo" });
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(1100);
    expect(text).toMatch(
      /\[201 matching lines in 2 files\. Of 1 file only the first 200 matching lines were taken\.\]$/,
    );
    bench.with({ output_limit: 3000 });
    const short = await find({ query: "foo" });
    expect(short.length).toBeLessThanOrEqual(3000);
    expect(short).toContain("Narrow the pattern");
  });

  test("pipes and loops of links are passed by (SRCH-09)", async () => {
    execFileSync("mkfifo", [bench.path("pipe")]);
    symlinkSync("..", bench.path("up"));
    write("sub/a", "hit\n");
    symlinkSync("..", bench.path("sub/loop"));
    expect(await find({ query: "hit" })).toBe("sub/a:1:hit\n\n[1 matching line in 1 file.]");
    expect(await find({ query: "hit", path: "pipe" })).toMatch(/^refused: pipe is neither/);
  });

  test("a slow pattern is over in time (SRCH-06)", async () => {
    write("a.txt", `${"a".repeat(5000)}b\n`);
    bench.with({ timeout_s: 5 });
    expect(await find({ query: "(a+)+$" })).toMatch(/^\[No matches/);
  });

  test("noise is skipped when walking and found when the path leads there (SRCH-07)", async () => {
    for (const path of ["node_modules/x/i.js", ".git/config", ".github/ci.yml"]) write(path, "hit\n");
    write("bin", Buffer.from("hit\0hit"));
    expect(await find({ query: "hit" })).toBe(".github/ci.yml:1:hit\n\n[1 matching line in 1 file.]");
    expect(await find({ query: "hit", path: "node_modules/x" })).toContain("node_modules/x/i.js:1:hit");
    expect(await find({ query: "hit", path: ".git" })).toContain(".git/config:1:hit");
  });

  test("the server's own files are left out (REQ-TOOL-019)", async () => {
    write("data/secret", "hit\n");
    write("other/visible", "hit\n");
    const hidden = { engines: await engines(), hidden_paths: [bench.path("data")] };
    expect(await search({ query: "hit" }, hidden)).toBe("other/visible:1:hit\n\n[1 matching line in 1 file.]");
  });

  test("what can be read is not lost to what cannot (SRCH-04)", async () => {
    write("good", "hit\n");
    // Root may read every file, so a second target that is not there plays the fault.
    const broken = (await engines()).map((engine) => ({
      ...engine,
      args: (order: Parameters<typeof engine.args>[0]) => [...engine.args(order), "./gone"],
    }));
    expect(await search({ query: "hit" }, { engines: broken })).toMatch(
      /^good:1:hit\n.*Some files could not be read\.\]$/s,
    );
  });
});

test("what .gitignore names is skipped, and that is said (SRCH-08)", async () => {
  write(".gitignore", "out.log\n");
  write("out.log", "hit\n");
  expect(await search({ query: "hit" })).toBe(
    "[No matches. Binary files, .git, node_modules and what .gitignore names were not searched.]",
  );
  expect(await search({ query: "hit", path: "out.log" })).toContain("out.log:1:hit");
});

test("a ripgrep configuration changes nothing (SRCH-08)", async () => {
  write("rc", "--ignore-case\n");
  write("a", "HIT\n");
  expect(await search({ query: "hit" }, { env: { ...env, RIPGREP_CONFIG_PATH: bench.path("rc") } })).toMatch(
    /^\[No matches/,
  );
});

test("a folder that became a link after it was looked at is not searched", async () => {
  write("sub/a.txt", "inside");
  const outside = mkdtempSync(join(tmpdir(), "turnstone-outside-"));
  onTestFinished(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, "a.txt"), "secret");
  const tool = createSearch({ env, hidden_paths: [] });
  const preparation = await tool.prepare({ query: "secret", path: "sub" }, bench.context);
  if (!preparation.ok) throw new Error(preparation.error);
  rmSync(bench.path("sub"), { recursive: true });
  symlinkSync(outside, bench.path("sub"));
  const result = await bench.execute(tool, preparation.plan);
  expect(result).toMatchObject({ is_error: true, output: expect.stringContaining("leads somewhere else now") });
});

test("a missing path says so (SRCH-11)", async () => {
  expect(await search({ query: "x", path: "/nope" })).toBe(
    "refused: /nope does not exist. Search in a folder that does, or leave path out.",
  );
});

test("inside nobody is asked, outside somebody is", async () => {
  const outside = mkdtempSync(join(tmpdir(), "outside-"));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  writeFileSync(join(outside, "f"), "hit\n");
  const tool = createSearch({ env, hidden_paths: [] });
  expect(await tool.prepare({ query: "a" }, bench.context)).toMatchObject({
    needs_approval: false,
    header: "search: a",
  });
  expect(await tool.prepare({ query: "a", path: outside }, bench.context)).toMatchObject({ needs_approval: true });
  symlinkSync(outside, bench.path("link"));
  expect(await tool.prepare({ query: "a", path: "link" }, bench.context)).toMatchObject({ needs_approval: true });
  expect(await search({ query: "hit", path: outside })).toContain(`${outside}/f:1:hit`);
  expect(await search({ query: "a", path: "/proc/self" })).toMatch(/^refused/);
});

test("a cancelled search says so", async () => {
  const abort = new AbortController();
  abort.abort();
  bench.with({ signal: abort.signal });
  expect(await search({ query: "x" })).toContain("cancelled by the user");
});
