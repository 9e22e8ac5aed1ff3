import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { JsonObject } from "../protocol/json.ts";
import { editFileTool } from "./edit_file.ts";
import { readFileTool } from "./read_file.ts";

const tool = editFileTool();
let bench: ToolBench;
beforeEach(() => {
  bench = toolBench();
});
afterEach(() => bench.remove());

/** Writes a file and reads it with the tool, so that it may be edited. */
async function given(name: string, content: string | Buffer): Promise<void> {
  writeFileSync(bench.path(name), content);
  await bench.call(readFileTool(), { path: name });
}

async function edit(
  path: string,
  old_string: string,
  new_string: string,
  more: JsonObject = {},
): Promise<{ output: string; is_error: boolean }> {
  const result = await bench.call(tool, { path, old_string, new_string, ...more });
  return result.prepared ? result : { output: result.error, is_error: true };
}

async function prepared(args: JsonObject) {
  const preparation = await tool.prepare(args, bench.context);
  if (!preparation.ok) throw new Error(preparation.error);
  return preparation;
}

function content(name: string): string {
  return readFileSync(bench.path(name), "latin1");
}

test("one place is replaced, and the person sees the diff first", async () => {
  await given("a.ts", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
  const preparation = await prepared({ path: "a.ts", old_string: "five", new_string: "FIVE" });
  expect(preparation).toMatchObject({
    header: "edit_file: a.ts (line 5)",
    needs_approval: true,
    effect: "side_effect",
    subject: "a.ts",
  });
  expect(preparation.preview).toBe("@@ -2,6 +2,6 @@\n two\n three\n four\n-five\n+FIVE\n six\n seven\n");
  expect(preparation.resources).toEqual([bench.path("a.ts")]);
  expect(content("a.ts")).toContain("five");
  const result = await bench.execute(tool, preparation.plan);
  expect(result).toMatchObject({ output: "Edited a.ts: replaced 1 occurrence at line 5.", effect: "done" });
  expect(content("a.ts")).toBe("one\ntwo\nthree\nfour\nFIVE\nsix\nseven\n");
});

test("CRLF survives an edit that was written with LF (FILE-02)", async () => {
  await given("dos", "a\r\nb\r\n");
  await edit("dos", "a\nb", "x\ny");
  expect(content("dos")).toBe("x\r\ny\r\n");
  await edit("dos", "y", "y\nz");
  expect(content("dos")).toBe("x\r\ny\r\nz\r\n");
  await given("mixed", "a\r\nb\nc\r\nd\n");
  await edit("mixed", "a\nb\nc\nd", "a\nB\nnew\nc\nd");
  expect(content("mixed")).toBe("a\r\nB\nnew\nc\r\nd\n");
  await given("mixed2", "a\r\nb\nc\r\nd\n");
  await edit("mixed2", "b\nc", "b\nC");
  expect(content("mixed2")).toBe("a\r\nb\nC\r\nd\n");
});

test("CRLF that is asked for by name is written", async () => {
  await given("unix", "a\nb\n");
  await edit("unix", "a", "a\r\nx");
  expect(content("unix")).toBe("a\r\nx\nb\n");
  await given("dos", "a\r\nb\r\n");
  await edit("dos", "a\r\nb", "a\nb");
  expect(content("dos")).toBe("a\nb\r\n");
});

test("LF and CRLF spellings of one text are two matches (FILE-02)", async () => {
  await given("mixed", "a\nb\n-\na\r\nb\n");
  expect(await edit("mixed", "a\nb", "x")).toMatchObject({
    is_error: true,
    output: expect.stringContaining("on lines 1, 4"),
  });
});

test("a byte order mark stays, and line 1 matches without it (FILE-03)", async () => {
  await given("bom", Buffer.from("\ufefffirst\nsecond\n"));
  await edit("bom", "first\n", "1st\n");
  expect(content("bom")).toBe("\xef\xbb\xbf1st\nsecond\n");
});

test("UTF-16BE and Latin-1 files keep their encoding; what they cannot hold is refused", async () => {
  await given("wide", Buffer.from("\ufeffhé\nb\n", "utf16le").swap16());
  await edit("wide", "hé", "ж😀");
  expect(readFileSync(bench.path("wide")).swap16().toString("utf16le")).toBe("\ufeffж😀\nb\n");
  await given("latin", Buffer.from("caf\xe9\nx\n", "latin1"));
  expect(await edit("latin", "café", "€")).toMatchObject({
    is_error: true,
    output: expect.stringContaining("encoded as Latin-1"),
  });
  await edit("latin", "café", "thé");
  expect(content("latin")).toBe("th\xe9\nx\n");
});

test("a missing last line break and $& stay what they are", async () => {
  await given("a", "x\nfoo");
  await edit("a", "foo", "$& $1 $$");
  expect(content("a")).toBe("x\n$& $1 $$");
});

test("mode, owner and further names of a file survive (FILE-05)", async () => {
  await given("run.sh", "echo 1\n");
  chmodSync(bench.path("run.sh"), 0o4755);
  if (process.getuid?.() === 0) chownSync(bench.path("run.sh"), 1234, 1235);
  chmodSync(bench.path("run.sh"), 0o4755);
  const before = statSync(bench.path("run.sh"));
  await edit("run.sh", "1", "2");
  const after = statSync(bench.path("run.sh"));
  expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
  linkSync(bench.path("run.sh"), bench.path("other"));
  await edit("run.sh", "2", "3 and more");
  await edit("run.sh", " and more", "");
  expect(content("other")).toBe("echo 3\n");
  expect(statSync(bench.path("run.sh")).nlink).toBe(2);
});

test("near_line takes the nearest, of two as near the earlier (FILE-19)", async () => {
  const lines = Array.from({ length: 20 }, (_, index) => ([9, 13, 19].includes(index) ? "hit" : `l${index + 1}`));
  await given("a", lines.join("\n"));
  expect(await edit("a", "hit", "x", { near_line: 12 })).toMatchObject({ output: expect.stringContaining("line 10") });
  expect(content("a").split("\n")[9]).toBe("x");
});

test.each([["12"], [12.0]])("near_line %j is taken (FILE-20)", async (near_line) => {
  await given("a", `${"x\n".repeat(10)}hit\n${"x\n".repeat(10)}hit\n`);
  expect((await edit("a", "hit", "y", { near_line })).output).toContain("line 11");
});

// REQ-TOOL-015
test("without a usable near_line several matches are an error that lists their lines (FILE-20)", async () => {
  await given("a", "hit\n\nhit\n");
  const expected = "old_string stands 2 times in a, on lines 1, 3. Give more of the text around it, or near_line.";
  expect((await edit("a", "hit", "y")).output).toBe(expected);
  expect((await edit("a", "hit", "y", { near_line: "abc" })).output).toBe(expected);
});

test("lines are counted as read_file counts them (FILE-18)", async () => {
  await given("a", "x\ry\u2028\fhit\nhit\n");
  expect((await edit("a", "hit", "y")).output).toContain("on lines 1, 2");
});

test("overlapping matches count (FILE-21)", async () => {
  await given("a", "aaa");
  expect((await edit("a", "aa", "b")).output).toContain("2 times");
  await given("many", "a".repeat(20_000));
  expect((await edit("many", "a", "b")).output).toContain("too often");
});

test("an edit that changes nothing is refused, and the file untouched (FILE-22)", async () => {
  await given("a", "x\n");
  const before = statSync(bench.path("a")).mtimeMs;
  expect(await edit("a", "x", "x")).toMatchObject({
    is_error: true,
    output: expect.stringContaining("nothing to change"),
  });
  expect(statSync(bench.path("a")).mtimeMs).toBe(before);
  expect(await edit("a", "", "y")).toMatchObject({ is_error: true, output: expect.stringContaining("empty") });
});

test("a file that changed between the yes and the run is left alone (FILE-23)", async () => {
  await given("a", "one\ntwo\n");
  const { plan } = await prepared({ path: "a", old_string: "two", new_string: "2" });
  writeFileSync(bench.path("a"), "ONE\ntwo\n");
  expect(await bench.execute(tool, plan)).toMatchObject({
    is_error: true,
    effect: "none",
    output: expect.stringContaining("Read it again"),
  });
  expect(content("a")).toBe("ONE\ntwo\n");
});

test("the same time does not hide a change, nor the same bytes a new time (FILE-23)", async () => {
  await given("a", "one\n");
  const { atimeMs, mtimeMs } = statSync(bench.path("a"));
  writeFileSync(bench.path("a"), "two\n");
  utimesSync(bench.path("a"), atimeMs / 1000, mtimeMs / 1000);
  expect((await edit("a", "two", "2")).output).toContain("changed since it was read");
  await given("b", "one\n");
  utimesSync(bench.path("b"), 1, 1);
  expect((await edit("b", "one", "1")).output).toContain("changed since it was read");
});

test("a folder that became a link since is not followed (FILE-06, FILE-23)", async () => {
  mkdirSync(bench.path("d"));
  mkdirSync(bench.path("e"));
  await given("d/a", "one\n");
  writeFileSync(bench.path("e/a"), "one\n");
  const { plan } = await prepared({ path: "d/a", old_string: "one", new_string: "1" });
  const { renameSync } = await import("node:fs");
  renameSync(bench.path("d"), bench.path("was"));
  symlinkSync("e", bench.path("d"));
  expect(await bench.execute(tool, plan)).toMatchObject({
    is_error: true,
    output: expect.stringContaining("another place"),
  });
  expect(content("e/a")).toBe("one\n");
});

test("only a reading that worked unlocks editing (FILE-25, FILE-26, REQ-TOOL-014)", async () => {
  await bench.call(readFileTool(), { path: "late" });
  writeFileSync(bench.path("late"), "x\n");
  expect((await edit("late", "x", "y")).output).toContain("Read it with read_file first");
  expect((await edit("absent", "x", "y")).output).toBe("absent does not exist.");
  expect(existsSync(bench.path("absent"))).toBe(false);
});

test("the guard knows the file, however it is spelt (FILE-27)", async () => {
  mkdirSync(bench.path("dir"));
  await given("dir/a", "x\n");
  writeFileSync(bench.path("dir/A"), "x\n");
  symlinkSync("dir", bench.path("alias"));
  for (const [path, from, to] of [
    ["./dir/../dir/a", "x", "y"],
    [bench.path("dir/a"), "y", "z"],
    ["alias/a", "z", "w"],
  ] as const) {
    expect(await edit(path, from, to)).toMatchObject({ is_error: false });
  }
  expect(content("dir/a")).toBe("w\n");
  expect(await edit("dir/A", "x", "y")).toMatchObject({ is_error: true, output: expect.stringContaining("not read") });
});

test("line numbers in old_string are pointed out (FILE-35)", async () => {
  await given("a", "x\nfoo\nbar\n");
  expect((await edit("a", "     2\tfoo\n     3\tbar", "y")).output).toContain("begins with line numbers");
});

test("a match up to white space is told with its line", async () => {
  await given("a", "x\n\tif (a)  {\n\t\tb();\n");
  expect((await edit("a", "if (a) {\n    b();", "y")).output).toContain("differs only in white space is on line 2");
  expect((await edit("a", "nothing like it", "y")).output).toContain("Read the file again");
});

test("a link that leads out of the workspace is refused with its target (FILE-06)", async () => {
  symlinkSync("/etc/hosts", bench.path("link"));
  expect((await edit("link", "x", "y")).output).toContain("link → /etc/hosts: this link leads out of the workspace");
});

test("invisible characters are marked in what the person sees (APPR-16)", async () => {
  await given("a", "x\n");
  const { preview, plan } = await prepared({ path: "a", old_string: "x", new_string: "\u202ey\u200b" });
  expect(preview).toContain("+<U+202E>y<U+200B>");
  await bench.execute(tool, plan);
  expect(readFileSync(bench.path("a"), "utf8")).toBe("\u202ey\u200b\n");
});

test("two edits of one batch both apply, in order (REQ-TOOL-016)", async () => {
  await given("a", "one\ntwo\nthree\n");
  const first = await prepared({ path: "a", old_string: "one", new_string: "1\n1\n1" });
  const second = await prepared({ path: "a", old_string: "two", new_string: "2" });
  await bench.execute(tool, first.plan);
  expect(await bench.execute(tool, second.plan)).toMatchObject({ is_error: false });
  expect(content("a")).toBe("1\n1\n1\n2\nthree\n");
});

test("after the first edit moved the lines, the second still finds the place that was shown", async () => {
  const block = (name: string): string => `${name} {\n  value\n}\n`;
  await given("a", `head\n${block("a")}${block("b")}${block("c")}`);
  const first = await prepared({ path: "a", old_string: "head\n", new_string: "line\n".repeat(6) });
  const second = await prepared({ path: "a", old_string: "  value", new_string: "  changed", near_line: 9 });
  await bench.execute(tool, first.plan);
  await bench.execute(tool, second.plan);
  expect(content("a")).toBe(`${"line\n".repeat(6)}${block("a")}${block("b")}c {\n  changed\n}\n`);
});

test("of two edits of one place the second does not fall on another place", async () => {
  await given("a", "hit one\n\n\nhit two\n");
  const first = await prepared({ path: "a", old_string: "hit", new_string: "x", near_line: 1 });
  const second = await prepared({ path: "a", old_string: "hit", new_string: "y", near_line: 2 });
  await bench.execute(tool, first.plan);
  expect(await bench.execute(tool, second.plan)).toMatchObject({
    is_error: true,
    output: expect.stringContaining("no longer certain"),
  });
  expect(content("a")).toBe("x one\n\n\nhit two\n");
});

test("of two sessions that edit a file at once, one is told to read it again", async () => {
  await given("a", "one\ntwo\n");
  const other = toolBench({ workspace: bench.context.workspace });
  await other.call(readFileTool(), { path: "a" });
  const mine = await prepared({ path: "a", old_string: "one", new_string: "1" });
  const theirs = await prepared({ path: "a", old_string: "two", new_string: "2" });
  const results = await Promise.all([bench.execute(tool, mine.plan), other.execute(tool, theirs.plan)]);
  expect(results.filter((result) => result.is_error)).toHaveLength(1);
  expect(["1\ntwo\n", "one\n2\n"]).toContain(content("a"));
  other.remove();
});

test("bytes outside the match never change (REQ-TOOL-013)", async () => {
  const piece = fc.oneof(
    fc.constantFrom("\n", "\r\n", "\r", "\t", " ", "$&", "é", "😀", "\u2028", "\f"),
    fc.string({ unit: "binary", maxLength: 8 }),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("").replaceAll("\0", ""));
  const encoding = fc.constantFrom("utf8", "utf8 with mark", "latin1", "utf16le");
  await fc.assert(
    fc.asyncProperty(text, text, text, encoding, async (head, tail, replacement, form) => {
      const marker = "<<the match>>";
      const encode = (part: string): Buffer => Buffer.from(part, form === "utf8 with mark" ? "utf8" : form);
      fc.pre(
        [head, tail, replacement].every(
          (part) =>
            part.isWellFormed() && !part.startsWith("\ufeff") && (form !== "latin1" || !/[^\0-\xff]/.test(part)),
        ),
      );
      const mark =
        form === "utf8 with mark" ? Buffer.from("\ufeff") : form === "utf16le" ? encode("\ufeff") : Buffer.alloc(0);
      const before = Buffer.concat([mark, encode(head)]);
      const after = encode(tail);
      await given("p", Buffer.concat([before, encode(marker), after]));
      const result = await edit("p", marker, replacement);
      fc.pre(!result.output.includes("encoded as Latin-1"));
      expect(result).toMatchObject({ is_error: false });
      const bytes = readFileSync(bench.path("p"));
      expect(bytes.subarray(0, before.length)).toEqual(before);
      expect(bytes.subarray(bytes.length - after.length)).toEqual(after);
    }),
    { numRuns: 150 },
  );
}, 60_000);
