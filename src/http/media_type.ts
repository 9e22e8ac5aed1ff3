/** The first bytes of formats that are told apart; what a name or a client claims does not count. */
const SIGNATURES: readonly { media_type: string; bytes: readonly number[]; offset?: number }[] = [
  { media_type: "image/png", bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { media_type: "image/jpeg", bytes: [0xff, 0xd8, 0xff] },
  { media_type: "image/gif", bytes: [0x47, 0x49, 0x46, 0x38] },
  { media_type: "image/webp", bytes: [0x57, 0x45, 0x42, 0x50], offset: 8 },
  { media_type: "application/pdf", bytes: [0x25, 0x50, 0x44, 0x46, 0x2d] },
  { media_type: "application/zip", bytes: [0x50, 0x4b, 0x03, 0x04] },
];

/** What bytes are: a known format, text in UTF-8, or just bytes. */
export function sniffMediaType(bytes: Uint8Array): string {
  const known = SIGNATURES.find(({ bytes: wanted, offset = 0 }) =>
    wanted.every((byte, index) => bytes[offset + index] === byte),
  );
  if (known !== undefined) return known.media_type;
  return isText(bytes) ? "text/plain" : "application/octet-stream";
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
