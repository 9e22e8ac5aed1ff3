import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** Characters of a password; enough for any pass phrase, too few to make hashing a burden. */
export const PASSWORD_LENGTH_MAX = 1024;

/** Shorter ones are guessed too easily. */
export const PASSWORD_LENGTH_MIN = 8;

/** Cost of one hash: 32 MiB and some 80 ms, as OWASP's password storage sheet asks for scrypt. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** Hashes that run at once. More would take the thread pool away from files and names. */
const HASHES_AT_ONCE_MAX = 2;

/** Hashes that wait. Beyond it a caller is told to come back, so that guessing cannot fill memory. */
const HASHES_WAITING_MAX = 32;

/** Thrown when too many passwords are being checked at once. */
export class PasswordQueueFullError extends Error {}

/** Makes `scrypt$<log2 N>$<r>$<p>$<salt>$<key>`, salt and key in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveKey(password, salt);
  return ["scrypt", Math.log2(COST.N), COST.r, COST.p, salt.toString("base64url"), key.toString("base64url")].join("$");
}

/** Whether the password belongs to the hash. Without one (an unknown person) it costs the same and is never right. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [scheme, , , , salt, key] = (hash ?? "").split("$");
  const usable = scheme === "scrypt" && salt !== undefined && key !== undefined;
  const expected = usable ? Buffer.from(key, "base64url") : Buffer.alloc(KEY_BYTES);
  const actual = await deriveKey(password, usable ? Buffer.from(salt, "base64url") : Buffer.alloc(SALT_BYTES));
  return expected.length === actual.length && timingSafeEqual(expected, actual) && usable;
}

let running = 0;
const waiting: (() => void)[] = [];

async function deriveKey(password: string, salt: Buffer): Promise<Buffer> {
  if (running >= HASHES_AT_ONCE_MAX) {
    if (waiting.length >= HASHES_WAITING_MAX) throw new PasswordQueueFullError("Too many passwords are being checked.");
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password.normalize("NFKC"), salt, KEY_BYTES, COST, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
