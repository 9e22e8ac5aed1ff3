import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import sharp from "sharp";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toolBench, type CallResult, type ToolBench } from "../../test/support/tool_context.ts";
import type { JsonObject } from "../protocol/json.ts";
import { readFileTool } from "./read_file.ts";

const tool = readFileTool();
let bench: ToolBench;
beforeEach(() => {
  bench = toolBench();
});
afterEach(() => bench.remove());

async function read(args: JsonObject): Promise<{ output: string; is_error: boolean } & Partial<CallResult>> {
  const result = await bench.call(tool, args);
  return result.prepared ? result : { output: result.error, is_error: true };
}

async function prepared(args: JsonObject) {
  const preparation = await tool.prepare(args, bench.context);
  if (!preparation.ok) throw new Error(preparation.error);
  return preparation;
}

test("lines are numbered, and nothing is stripped (FILE-17)", async () => {
  writeFileSync(bench.path("a.txt"), "foo  \n\t\n  bar\t \nlast");
  expect(await read({ path: "a.txt" })).toMatchObject({
    output: "     1\tfoo  \n     2\t\t\n     3\t  bar\t \n     4\tlast",
    is_error: false,
    display: "4 lines",
  });
});

test("a last line break ends the last line and begins none (FILE-14)", async () => {
  writeFileSync(bench.path("ended"), "a\n");
  writeFileSync(bench.path("open"), "a");
  writeFileSync(bench.path("empty"), "");
  expect((await read({ path: "ended" })).output).toBe("     1\ta");
  expect((await read({ path: "open" })).output).toBe("     1\ta");
  expect(await read({ path: "empty" })).toMatchObject({ output: "empty is empty (0 lines).", is_error: false });
});

test("only LF ends a line; CRLF is told and its CR not shown (FILE-18)", async () => {
  writeFileSync(bench.path("odd"), "a\rb\u2028c\fd\ne\n");
  expect((await read({ path: "odd" })).output).toBe("     1\ta\rb\u2028c\fd\n     2\te");
  writeFileSync(bench.path("dos"), "a\r\nb\r\n");
  expect((await read({ path: "dos" })).output).toBe(
    "     1\ta\n     2\tb\n\n[Lines end in CRLF; edits with plain line breaks keep that.]",
  );
  writeFileSync(bench.path("mixed"), "a\r\nb\n");
  expect((await read({ path: "mixed" })).output).toContain("[1 of 2 lines end in CRLF, the others in LF");
});

test("2,000 lines come at once, and the rest is told how to get (REQ-TOOL-008)", async () => {
  writeFileSync(bench.path("long"), Array.from({ length: 2500 }, (_, index) => `line ${index + 1}\n`).join(""));
  const first = await read({ path: "long" });
  expect(first.output).toContain("  2000\tline 2000\n\n[Lines 1–2000 of 2500. Go on with offset 2001.]");
  expect(first.output).not.toContain("line 2001");
  expect(await read({ path: "long", offset: 2499 })).toMatchObject({
    output: "  2499\tline 2499\n  2500\tline 2500\n\n[Lines 2499–2500 of 2500.]",
    display: "lines 2499–2500 of 2500",
  });
});

test("a result that would be cut ends at a whole line instead", async () => {
  bench.with({ output_limit: 2000 });
  writeFileSync(bench.path("wide"), `${"x".repeat(100)}\n`.repeat(100));
  const { output } = await read({ path: "wide" });
  expect(output.length).toBeLessThanOrEqual(2000);
  expect(output).toMatch(/\[Lines 1–12 of 100\. Go on with offset 13\.\]$/);
});

test("an offset past the end says how many lines there are, and is no reading (FILE-15, FILE-26)", async () => {
  writeFileSync(bench.path("ten"), "x\n".repeat(10));
  expect(await read({ path: "ten", offset: 100 })).toMatchObject({
    is_error: true,
    output: expect.stringContaining("ten has 10 lines"),
  });
  expect(bench.records.size).toBe(0);
});

test.each([
  ["10", 10],
  [10.0, 10],
  [" 3 ", 3],
])("offset %j is taken for the whole number %i (FILE-16)", async (offset, line) => {
  writeFileSync(bench.path("ten"), "x\n".repeat(10));
  expect((await read({ path: "ten", offset, limit: 1 })).output).toContain(`${line}\tx`);
});

test.each([0, -1, true, "x", 1.5, "", [1]])("offset %j is refused (FILE-16)", async (offset) => {
  writeFileSync(bench.path("ten"), "x\n".repeat(10));
  expect(await read({ path: "ten", offset })).toMatchObject({
    is_error: true,
    output: expect.stringContaining("offset must be a whole number"),
  });
});

test("an enormous line is clipped, and the next keeps its number (FILE-13)", async () => {
  writeFileSync(bench.path("one.json"), `${"é".repeat(5 * 1024 * 1024)}\nnext\n`);
  const { output } = await read({ path: "one.json" });
  expect(output.length).toBeLessThan(9000);
  expect(output).toContain("é … [line clipped: it has 10,485,760 bytes]\n     2\tnext\n");
});

test("a far part of a huge file is right, in little memory, while other work goes on (FILE-12)", async () => {
  const handle = await open(bench.path("huge.log"), "w");
  const lines_per_block = 40_000;
  for (let block = 0; block < 100; block += 1) {
    const lines = Array.from(
      { length: lines_per_block },
      (_, index) => `line ${String(block * lines_per_block + index + 1).padEnd(30)}\n`,
    );
    await handle.write(lines.join(""));
  }
  await handle.close();
  let turns = 0;
  const ticking = setInterval(() => void (turns += 1), 1);
  const memory_before = process.memoryUsage().rss;
  const { output } = await read({ path: "huge.log", offset: 3_999_998, limit: 5 });
  clearInterval(ticking);
  expect(output.replace(/ +$/gm, "")).toBe(
    "3999998\tline 3999998\n3999999\tline 3999999\n4000000\tline 4000000\n\n[Lines 3999998–4000000 of 4000000.]",
  );
  expect(process.memoryUsage().rss - memory_before).toBeLessThan(100 * 1024 * 1024);
  expect(turns).toBeGreaterThan(10);
}, 60_000);

test("a sparse file beyond the limit is refused, not read for minutes", async () => {
  writeFileSync(bench.path("sparse"), "a\n");
  truncateSync(bench.path("sparse"), 5 * 1024 ** 3);
  expect(await read({ path: "sparse" })).toMatchObject({
    is_error: true,
    output: expect.stringContaining("binary file"),
  });
});

test("devices, pipes and folders are refused at once (FILE-09, FILE-31)", async () => {
  execFileSync("mkfifo", [bench.path("pipe")]);
  mkdirSync(bench.path("folder"));
  expect((await read({ path: "/dev/zero" })).output).toBe("/dev/zero is a device, not a file.");
  expect((await read({ path: "/dev/random" })).output).toBe("/dev/random is a device, not a file.");
  expect((await read({ path: "pipe" })).output).toBe("pipe is a named pipe, not a file.");
  expect((await read({ path: "folder" })).output).toBe("folder is a folder, not a file.");
  expect(bench.records.size).toBe(0);
});

test("a pseudo-file of size 0 has content (FILE-32)", async () => {
  const { output, is_error } = await read({ path: "/proc/self/status" });
  expect(is_error).toBe(false);
  expect(output).toMatch(/^ {5}1\tName:/);
});

test("a binary file is refused and does not count as read (FILE-10)", async () => {
  writeFileSync(bench.path("b.bin"), Buffer.concat([Buffer.from("text"), Buffer.alloc(10), Buffer.from("text")]));
  expect(await read({ path: "b.bin" })).toMatchObject({
    is_error: true,
    output: expect.stringContaining("binary file"),
  });
  expect(bench.records.size).toBe(0);
});

test("UTF-16LE and UTF-16BE with a byte order mark are decoded (FILE-11)", async () => {
  const little = Buffer.from("\ufeffhé\r\nzwei\n", "utf16le");
  writeFileSync(bench.path("le.txt"), little);
  writeFileSync(bench.path("be.txt"), Buffer.from(little).swap16());
  for (const name of ["le.txt", "be.txt"]) {
    const { output } = await read({ path: name });
    expect(output).toContain("     1\thé\n     2\tzwei\n");
    expect(output).toContain("[Encoded as UTF-16");
  }
});

test("a UTF-8 byte order mark is not shown, and bytes that are not UTF-8 are shown as Latin-1", async () => {
  writeFileSync(bench.path("bom"), "\ufeffa\n");
  writeFileSync(bench.path("latin"), Buffer.from("caf\xe9\n", "latin1"));
  expect((await read({ path: "bom" })).output).toBe("     1\ta");
  expect((await read({ path: "latin" })).output).toBe(
    "     1\tcafé\n\n[Not valid UTF-8: shown, and edited, as Latin-1.]",
  );
});

test("a character that a piece of the file cuts in two is still one", async () => {
  writeFileSync(bench.path("cut"), `${"a".repeat(256 * 1024 - 1)}é\nb\n`);
  const { output } = await read({ path: "cut", offset: 2 });
  expect(output).not.toContain("Latin-1");
});

test("what was read is recorded by its real path", async () => {
  writeFileSync(bench.path("real"), "a\n");
  symlinkSync("real", bench.path("link"));
  const preparation = await prepared({ path: "link" });
  expect(preparation.header).toBe("read_file: link → real");
  await bench.execute(tool, preparation.plan);
  expect([...bench.records.keys()]).toEqual([bench.path("real")]);
});

test("files inside are read unasked, files outside after a yes (REQ-TOOL-009)", async () => {
  expect(await prepared({ path: "a.txt" })).toMatchObject({ needs_approval: false, effect: "none", subject: "a.txt" });
  expect(await prepared({ path: "../x" })).toMatchObject({ needs_approval: true, approval_label: "read_outside_file" });
  symlinkSync("/etc", bench.path("etc"));
  expect(await prepared({ path: "etc/hosts" })).toMatchObject({
    needs_approval: true,
    header: expect.stringContaining("→ /etc/hosts"),
  });
});

test("a link put in after the call was prepared is not followed (FILE-23)", async () => {
  const { plan } = await prepared({ path: "later.txt" });
  symlinkSync("/etc/hosts", bench.path("later.txt"));
  expect(await bench.execute(tool, plan)).toMatchObject({
    is_error: true,
    output: expect.stringContaining("leads to another place"),
  });
});

test.each([
  ["", "empty"],
  ["a\0b", "NUL"],
  ["~nobody-here/x", "no user"],
  ["file/inside", "is a file"],
  ["file/", "not a folder"],
  ["loop", "circle"],
  ["missing", "does not exist"],
  ["x".repeat(300), "too long"],
  ["/proc/self/environ", "belongs to the server"],
])("the odd path %j is an error in words (FILE-31)", async (path, words) => {
  writeFileSync(bench.path("file"), "a");
  symlinkSync("loop", bench.path("loop"));
  expect(await read({ path })).toMatchObject({ is_error: true, output: expect.stringContaining(words) });
});

const PIXELS = { create: { width: 30, height: 20, channels: 3 as const, background: "#c03020" } };

test.each(["png", "jpeg", "gif", "webp"] as const)(
  "a %s is shown, by its bytes and not its name (FILE-34)",
  async (format) => {
    const bytes = await sharp(PIXELS).toFormat(format).toBuffer();
    writeFileSync(bench.path("picture.bin"), bytes);
    const result = await read({ path: "picture.bin" });
    expect(result).toMatchObject({
      is_error: false,
      images: [{ media_type: `image/${format}`, width: 30, height: 20 }],
    });
    expect(result.output).toContain(`${format.toUpperCase()} picture, 30×20`);
    expect(Buffer.from([...bench.attachments.values()][0]?.bytes ?? [])).toEqual(bytes);
    expect(bench.records.size).toBe(1);
  },
);

test("a TIFF is sent as PNG; BMP and ICO are described, since they cannot be converted (FILE-33)", async () => {
  writeFileSync(bench.path("a.tiff"), await sharp(PIXELS).tiff().toBuffer());
  expect(await read({ path: "a.tiff" })).toMatchObject({
    images: [{ media_type: "image/png", width: 30, height: 20 }],
  });
  const bmp = Buffer.alloc(54 + 30 * 20 * 4);
  bmp.write("BM");
  bmp.writeUInt32LE(40, 14);
  bmp.writeInt32LE(30, 18);
  bmp.writeInt32LE(-20, 22);
  writeFileSync(bench.path("a.bmp"), bmp);
  const described = await read({ path: "a.bmp" });
  expect(described).toMatchObject({ is_error: false, output: expect.stringContaining("BMP picture, 30×20") });
  expect(described).not.toHaveProperty("images");
});

test("an icon's largest PNG is what is shown (FILE-33)", async () => {
  const png = await sharp(PIXELS).png().toBuffer();
  const header = Buffer.alloc(22);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(1, 4);
  header.writeUInt8(30, 6);
  header.writeUInt8(20, 7);
  header.writeUInt32LE(png.length, 14);
  header.writeUInt32LE(22, 18);
  writeFileSync(bench.path("a.ico"), Buffer.concat([header, png]));
  expect(await read({ path: "a.ico" })).toMatchObject({
    output: expect.stringContaining("ICO picture, 30×20"),
    images: [{ media_type: "image/png" }],
  });
});

test("a damaged picture is described, never sent (FILE-34)", async () => {
  const bytes = await sharp({
    create: { ...PIXELS.create, width: 300, height: 300, noise: { type: "gaussian", mean: 128, sigma: 60 } },
  })
    .png()
    .toBuffer();
  writeFileSync(bench.path("half.png"), bytes.subarray(0, bytes.length / 2));
  const result = await read({ path: "half.png" });
  expect(result.output).toContain("damaged");
  expect(result).not.toHaveProperty("images");
});

test("text, or nothing, named like a picture is text (FILE-34)", async () => {
  writeFileSync(bench.path("text.png"), "BM is not a bitmap\n");
  writeFileSync(bench.path("zero.png"), "");
  writeFileSync(bench.path("a.svg"), "<svg/>\n");
  expect((await read({ path: "text.png" })).output).toBe("     1\tBM is not a bitmap");
  expect((await read({ path: "zero.png" })).output).toContain("0 lines");
  expect((await read({ path: "a.svg" })).output).toBe("     1\t<svg/>");
});

test("a picture of more pixels than an API takes is scaled down", async () => {
  writeFileSync(
    bench.path("wide.png"),
    await sharp({ create: { ...PIXELS.create, width: 9000, height: 900 } })
      .png()
      .toBuffer(),
  );
  expect(await read({ path: "wide.png" })).toMatchObject({ images: [{ width: 2000, height: 200 }] });
});

test("a model without eyes gets a description, and more than 4 MB is refused (REQ-TOOL-010)", async () => {
  bench.with({ model: { supports_vision: false } });
  const png = await sharp(PIXELS).png().toBuffer();
  writeFileSync(bench.path("a.png"), png);
  const result = await read({ path: "a.png" });
  expect(result.output).toBe(
    `a.png: PNG picture, 30×20, ${png.length} bytes. ` +
      "This model cannot see pictures, so only this description is given.",
  );
  expect(result).not.toHaveProperty("images");
  writeFileSync(bench.path("big.png"), Buffer.concat([png, Buffer.alloc(4 * 1024 * 1024)]));
  expect(await read({ path: "big.png" })).toMatchObject({
    is_error: true,
    output: expect.stringContaining("more than 4 MB"),
  });
});

test("the definition offers what the code takes", () => {
  const definition = JSON.parse(readFileSync(new URL("../../tools/read_file.json", import.meta.url), "utf8"));
  expect(definition).toMatchObject({
    name: tool.name,
    agent: true,
    task_agent: true,
    auto_approve: true,
    primary_key: "path",
  });
});

test("a cancelled read says so", async () => {
  writeFileSync(bench.path("a"), "a\n");
  bench.with({ signal: AbortSignal.abort() });
  expect(await read({ path: "a" })).toMatchObject({ is_error: true, output: "Reading a was cancelled." });
});
