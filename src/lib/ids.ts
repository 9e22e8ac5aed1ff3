import { createHash, randomBytes } from "node:crypto";

/** 32 hexadecimal digits: workstreams, users, rows. */
export function newId(): string {
  return randomBytes(16).toString("hex");
}

/** A short id with a speaking prefix, such as `call_9f…`; 24 hexadecimal digits. */
export function newPrefixedId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}

/** SHA-256 in hexadecimal. */
export function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
