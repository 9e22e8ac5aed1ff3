import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const KEY_BYTES = 32;
/** As GCM wants them (NIST SP 800-38D). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Keeps texts so that only who has the secret can read them, and only as what they were kept as. */
export interface Sealer {
  /** `about` names what the text belongs to; it is not part of the result and must be the same to open it. */
  seal(text: string, about: string): string;
  /** Null where the secret, what it is about, or a byte of it is another. */
  open(sealed: string, about: string): string | null;
}

/** AES-256-GCM with a random nonce for each text and a key of its own for each purpose (HKDF, RFC 5869). */
export function createSealer(secret: string, purpose: string): Sealer {
  const key = Buffer.from(hkdfSync("sha256", secret, "", `turnstone ${purpose}`, KEY_BYTES));
  return {
    seal(text, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(about));
      const bytes = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return bytes.toString("base64url");
    },
    open(sealed, about) {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)).toString() + decipher.final("utf8");
      } catch {
        return null;
      }
    },
  };
}
