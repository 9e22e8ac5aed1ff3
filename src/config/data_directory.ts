import { randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Config } from "./load.ts";
import { makeFolder } from "../lib/make_folder.ts";

export type DataDirectory = { ok: true; jwt_secret: string } | { ok: false; error: string };

// Twice what HS256 needs; in hexadecimal, so that it can be copied into a variable.
const SECRET_BYTES = 64;
const SECRET_LENGTH_MIN = 32;

/**
 * Makes the data directory (0700) and the secret in it (0600) where they are missing. Several processes may do so at
 * once.
 */
export function prepareDataDirectory(config: Config): DataDirectory {
  const folder = config.server.data_dir;
  try {
    makeFolder(folder, 0o700);
    // The mask of the process may have taken bits away or an earlier hand may have added some.
    if ((statSync(folder).mode & 0o777) !== 0o700) {
      if (!isOurs(folder)) return unusable(folder, "it holds other things, to which everybody else would lose access");
      chmodSync(folder, 0o700);
    }
    accessSync(folder, constants.W_OK | constants.X_OK);
    return keptSecret(config.auth.jwt_secret, join(folder, "jwt_secret"));
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    return unusable(folder, FAILURES[String(error.code)] ?? `the system says ${String(error.code)}`);
  }
}

function unusable(folder: string, why: string): DataDirectory {
  const remedy = "Choose another with --data-dir or TURNSTONE_DATA_DIR.";
  return { ok: false, error: `The data directory ${folder} cannot be used: ${why}. ${remedy}` };
}

/** Whether a folder is empty, as the root of a new disk is too, or one that a server of ours has used. */
function isOurs(folder: string): boolean {
  const names = readdirSync(folder).filter((name) => name !== "lost+found");
  return names.length === 0 || names.includes("turnstone.db") || names.includes("jwt_secret");
}

const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "no folder can be made there",
  EACCES: "this user may not write there",
  EPERM: "it belongs to another user",
  EROFS: "the file system is read-only",
  ENOTDIR: "a part of its path is a file",
  EEXIST: "it is a file",
  ENOSPC: "the disk is full",
};

function keptSecret(given: string | null, path: string): DataDirectory {
  if (given !== null) return { ok: true, jwt_secret: given };
  const secret = readSecret(path) ?? makeSecret(path);
  if (Buffer.byteLength(secret) >= SECRET_LENGTH_MIN) return { ok: true, jwt_secret: secret };
  return {
    ok: false,
    error: `${path} must hold at least ${SECRET_LENGTH_MIN} bytes; delete it to have a new one made, which signs everybody out.`,
  };
}

function readSecret(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Writes a new secret beside its place and links it there whole: of two processes the first wins and both read the
 * same.
 */
function makeSecret(path: string): string {
  const draft = `${path}.${process.pid}.new`;
  const file = openSync(draft, "w", 0o600);
  writeSync(file, `${randomBytes(SECRET_BYTES / 2).toString("hex")}\n`);
  fsyncSync(file);
  closeSync(file);
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    unlinkSync(draft);
  }
  return readSecret(path) ?? "";
}
