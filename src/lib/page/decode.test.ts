import { expect, test } from "vitest";
import { decodePage } from "./decode.ts";

/** "日本語" in Shift_JIS. */
const SHIFT_JIS = Uint8Array.of(0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea);
/** "café €" in Windows-1252, which pages call ISO-8859-1. */
const LATIN = Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 0x20, 0x80);

function joined(...parts: (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)));
}

test("the charset that the header names counts (WEB-17)", () => {
  expect(decodePage(SHIFT_JIS, "Shift_JIS")).toBe("日本語");
  expect(decodePage(LATIN, "ISO-8859-1")).toBe("café €");
});

test("else the one that the page names itself (WEB-17)", () => {
  for (const declaration of [
    '<meta charset="shift_jis">',
    '<meta http-equiv=Content-Type content="text/html; charset=Shift_JIS">',
    '<?xml version="1.0" encoding="Shift_JIS"?>',
  ]) {
    expect(decodePage(joined(declaration, SHIFT_JIS), null)).toBe(`${declaration}日本語`);
  }
  expect(decodePage(joined('<meta charset="utf-16">', "plain"), null)).toBe('<meta charset="utf-16">plain');
});

test("else what fits (WEB-17)", () => {
  expect(decodePage(Buffer.from("naïve 日本語"), null)).toBe("naïve 日本語");
  expect(decodePage(Buffer.from("日本語").subarray(0, 8), null)).toBe("日本");
  expect(decodePage(LATIN, null)).toBe("café €");
  expect(decodePage(LATIN, "no-such-charset")).toBe("café €");
});

test("a byte order mark counts more than all of it (WEB-17)", () => {
  const text = joined(Uint8Array.of(0xff, 0xfe), new Uint8Array(Buffer.from("日本語", "utf16le")));
  expect(decodePage(text, "utf-8")).toBe("日本語");
});
