import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, lstat, open, rename, unlink, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "./ids.ts";
import { describeFileError, fileErrorCode, type FileState } from "./open_file.ts";
import { makeFolder } from "./make_folder.ts";

export type Replacement = { ok: true; state: FileState } | { ok: false; error: string };

const locks = new Map<string, Promise<unknown>>();

/**
 * Runs what looks at a file and then writes it, one at a time for each path, so that two workstreams cannot both find
 * it unchanged.
 */
export async function withFileLock<Result>(real_path: string, work: () => Promise<Result>): Promise<Result> {
  const before = locks.get(real_path) ?? Promise.resolve();
  const mine = before.then(work);
  const settled = mine.catch(() => {});
  locks.set(real_path, settled);
  try {
    return await mine;
  } finally {
    if (locks.get(real_path) === settled) locks.delete(real_path);
  }
}

/**
 * Gives a file new content, creating it and its folders where they are missing. Readers and crashes see the old content
 * or the new one, never a part: a new file takes the old one's place, with its mode and owner. Only a file with several
 * names, or whose place or owner no other file can take, is written where it is. On any failure the old content stands.
 */
export async function replaceFile(real_path: string, shown: string, bytes: Uint8Array): Promise<Replacement> {
  try {
    makeFolder(dirname(real_path));
    const present = await statsOf(real_path);
    if (present !== null && !present.isFile()) {
      return { ok: false, error: `${shown} is not a regular file, so it was not written.` };
    }
    if (present !== null) await access(real_path, constants.W_OK);
    const has_other_names = present !== null && present.nlink > 1;
    const mtime_ms =
      (has_other_names ? null : await writeBeside(real_path, bytes, present)) ?? (await writeInPlace(real_path, bytes));
    return { ok: true, state: { mtime_ms, hash: sha256(bytes) } };
  } catch (error) {
    return { ok: false, error: describeFileError(error, shown) };
  }
}

async function statsOf(real_path: string): Promise<Stats | null> {
  try {
    return await lstat(real_path);
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Answers the new file's time, or null when no other file can take the present one's place. */
async function writeBeside(real_path: string, bytes: Uint8Array, present: Stats | null): Promise<number | null> {
  const folder = dirname(real_path);
  const temporary = join(folder, `.turnstone-${randomBytes(8).toString("hex")}.tmp`);
  const handle = await openBeside(temporary, present);
  if (handle === null) return null;
  let is_placed = false;
  try {
    if (present !== null && !(await takesOwner(handle, present))) return null;
    await handle.writeFile(bytes);
    await handle.sync();
    const { mtimeMs } = await handle.stat();
    await rename(temporary, real_path);
    is_placed = true;
    await syncFolder(folder);
    return mtimeMs;
  } catch (error) {
    // A file that is mounted by itself, as containers do with single files, cannot be replaced by renaming.
    if (present !== null && fileErrorCode(error) === "EBUSY") return null;
    throw error;
  } finally {
    await handle.close();
    if (!is_placed) await unlink(temporary);
  }
}

/** Null in a folder that takes no new file, though the present one may be written. */
async function openBeside(temporary: string, present: Stats | null): Promise<FileHandle | null> {
  try {
    return await open(temporary, "wx", present === null ? 0o666 : 0o600);
  } catch (error) {
    if (present !== null && ["EACCES", "EPERM", "EROFS"].includes(fileErrorCode(error))) return null;
    throw error;
  }
}

/** The mode comes last: changing the owner clears its special bits. */
async function takesOwner(handle: FileHandle, present: Stats): Promise<boolean> {
  const { uid, gid } = await handle.stat();
  try {
    if (uid !== present.uid || gid !== present.gid) await handle.chown(present.uid, present.gid);
    await handle.chmod(present.mode & 0o7777);
    return true;
  } catch (error) {
    if (fileErrorCode(error) === "EPERM") return false;
    throw error;
  }
}

/** What goes beyond the present end is written first: a full disk fails it there, the old content still whole. */
async function writeInPlace(real_path: string, bytes: Uint8Array): Promise<number> {
  const handle = await open(real_path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await handle.stat();
    try {
      if (bytes.length > size) await writeAll(handle, bytes.subarray(size), size);
      await handle.sync();
    } catch (error) {
      await handle.truncate(size);
      throw error;
    }
    await writeAll(handle, bytes.subarray(0, size), 0);
    await handle.truncate(bytes.length);
    await handle.sync();
    return (await handle.stat()).mtimeMs;
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Without this a power cut could forget the renaming. Some file systems refuse it, and then it is not needed. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (fileErrorCode(error) !== "EINVAL") throw error;
  } finally {
    await handle.close();
  }
}
