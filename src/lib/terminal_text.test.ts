import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TerminalText, terminalText } from "./terminal_text.ts";

const read = (text: string): string => terminalText(Buffer.from(text));

test("undecodable bytes are replaced and NUL is dropped (BASH-11)", () => {
  expect(terminalText(Buffer.from([0xff, 0xfe, 0x00, 0x6f, 0x6b]))).toBe("\ufffd\ufffdok");
});

test("colours go and a progress bar leaves its last state (BASH-12)", () => {
  expect(read("\r10%\r20%\u001b[31mX\u001b[0m\n")).toBe("20%X\n");
  expect(read("one\r\ntwo\r\n")).toBe("one\ntwo\n");
  expect(read("50%\r100%\r")).toBe("100%");
});

test("overstrikes, titles, links and character sets leave the bare text", () => {
  expect(read("N\bNA\bAM\bME\bE")).toBe("NAME");
  expect(read("_\bw_\bo")).toBe("wo");
  expect(read("\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\ \u001b(Bb\u009b1mc")).toBe(
    "alink bc",
  );
});

test("a sequence without an end takes no more than its line", () => {
  expect(read("\u001b]0;never\nnext\u001b[12\nlast")).toBe("\nnext\nlast");
});

const piece = fc.constantFrom(
  "a",
  "é",
  "😀",
  "\n",
  "\r",
  "\b",
  "\u001b[1m",
  "\u001b]0;t\u0007",
  "\u0000",
  "x".repeat(3000),
);

test("the borders between pieces change nothing", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 10 }), (parts, places) => {
      const bytes = Buffer.from(parts.join(""));
      const borders = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
      const stream = new TerminalText();
      const pieces = borders.slice(1).map((end, index) => stream.write(bytes.subarray(borders[index], end)));
      expect(pieces.join("") + stream.end()).toBe(terminalText(bytes));
    }),
    { numRuns: 500 },
  );
});

test("whole lines come out at once, an unfinished one waits", () => {
  const stream = new TerminalText();
  expect(stream.write(Buffer.from("one\ntw"))).toBe("one\n");
  expect(stream.write(Buffer.from("o\n"))).toBe("two\n");
});
