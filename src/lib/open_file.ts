import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

/** What is remembered of a file's state. */
export interface FileState {
  /** Milliseconds. */
  mtime_ms: number;
  /** SHA-256 of the bytes. */
  hash: string;
}

/** Whether a file is untouched: the same bytes under a new time count as touched, since somebody wrote them. */
export function isSameState(now: FileState, then: FileState | undefined): boolean {
  return then !== undefined && now.hash === then.hash && now.mtime_ms === then.mtime_ms;
}

export type OpenedFile =
  | { status: "open"; handle: FileHandle; size: number; mtime_ms: number }
  /** Told apart, since some callers are about to create the file. */
  | { status: "missing"; error: string }
  | { status: "failed"; error: string };

export type WholeFile =
  | { status: "read"; bytes: Buffer; state: FileState }
  | { status: "too_large"; error: string }
  | Exclude<OpenedFile, { status: "open" }>;

/** Files beyond this take minutes to pass over; a pseudo-file that never ends stops here too. */
export const FILE_BYTES_MAX = 4 * 1024 ** 3;

/** Bytes asked for at a time: large enough to be quick, small enough that nothing else waits for one piece. */
const CHUNK_BYTES = 256 * 1024;

/**
 * Opens a regular file for reading. Opening does not wait for a pipe's other end, and a device, pipe, socket or folder
 * is refused at once. `real_path` has its links resolved already; a link put there since is not followed.
 */
export async function openRegularFile(real_path: string, shown: string): Promise<OpenedFile> {
  let handle: FileHandle;
  try {
    handle = await open(real_path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    const status = fileErrorCode(error) === "ENOENT" ? "missing" : "failed";
    return { status, error: describeFileError(error, shown) };
  }
  const stats = await handle.stat();
  if (stats.isFile()) return { status: "open", handle, size: stats.size, mtime_ms: stats.mtimeMs };
  await handle.close();
  return { status: "failed", error: `${shown} is ${kindInWords(stats)}, not a file.` };
}

/** Reads a regular file of at most `bytes_max` into memory. A size of 0 is not believed: pseudo-files claim it. */
export async function readWholeFile(
  real_path: string,
  shown: string,
  bytes_max: number,
  signal: AbortSignal,
): Promise<WholeFile> {
  const chunks: Buffer[] = [];
  const passed = await passOver(real_path, shown, bytes_max, signal, (chunk) => chunks.push(Buffer.from(chunk)));
  return passed.status === "read" ? { ...passed, bytes: Buffer.concat(chunks) } : passed;
}

/** The state of a regular file of any size up to `FILE_BYTES_MAX`, in little memory. */
export async function readFileState(
  real_path: string,
  shown: string,
  signal: AbortSignal,
): Promise<{ status: "read"; state: FileState } | Exclude<WholeFile, { status: "read" }>> {
  return passOver(real_path, shown, FILE_BYTES_MAX, signal, () => {});
}

async function passOver(
  real_path: string,
  shown: string,
  bytes_max: number,
  signal: AbortSignal,
  take: (chunk: Buffer) => void,
): Promise<{ status: "read"; state: FileState } | Exclude<WholeFile, { status: "read" }>> {
  const opened = await openRegularFile(real_path, shown);
  if (opened.status !== "open") return opened;
  const { handle, size, mtime_ms } = opened;
  const limit = `${Math.floor(bytes_max / 1024 / 1024)} MiB`;
  const too_large = {
    status: "too_large",
    error: `${shown} is larger than ${limit}, too large for this; use bash on it.`,
  } as const;
  const hash = createHash("sha256");
  let length = 0;
  try {
    if (size > bytes_max) return too_large;
    for await (const chunk of chunksOf(opened, signal)) {
      length += chunk.length;
      if (length > bytes_max) return too_large;
      hash.update(chunk);
      take(chunk);
    }
  } catch (error) {
    if (signal.aborted) return { status: "failed", error: `Reading ${shown} was cancelled.` };
    return { status: "failed", error: describeFileError(error, shown) };
  } finally {
    await handle.close();
  }
  return { status: "read", state: { mtime_ms, hash: hash.digest("hex") } };
}

/**
 * The bytes of an open file, piece by piece, up to the size that it had when it was opened; a size of 0 is not
 * believed. A piece is only valid until the next is asked for.
 */
export async function* chunksOf(
  { handle, size }: { handle: FileHandle; size: number },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(size === 0 ? CHUNK_BYTES : Math.min(size, CHUNK_BYTES));
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
    if (position === size) return;
  }
}

/** The system's code, such as `ENOENT`; empty for anything else. */
export function fileErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Why a file could not be read or written, in one sentence that says what to do. */
export function describeFileError(error: unknown, shown: string): string {
  const code = fileErrorCode(error);
  switch (code) {
    case "ENOENT":
      return `${shown} does not exist.`;
    case "EISDIR":
      return `${shown} is a folder, not a file.`;
    case "ENOTDIR":
      return `${dirname(shown)} is a file, so nothing can be inside it.`;
    case "EACCES":
    case "EPERM":
      return `${shown} may not be used by the server's user (${code}).`;
    case "ENXIO":
    case "ENODEV":
      return `${shown} is a device, pipe or socket, not a file.`;
    case "EAGAIN":
      return `${shown} has nothing to read now and would keep the call waiting.`;
    case "ELOOP":
      return `${shown} has become a link since it was looked at. Try again.`;
    case "ENOSPC":
    case "EDQUOT":
      return `${shown} was not written: the disk is full (${code}). Nothing was changed; free some space first.`;
    case "EROFS":
      return `${shown} was not written: the disk is read-only (EROFS).`;
    case "ENAMETOOLONG":
      return `${shown} has too long a name for the disk.`;
    default:
      return `${shown} could not be used (${code || "unknown error"}).`;
  }
}

function kindInWords(stats: { isDirectory(): boolean; isFIFO(): boolean; isSocket(): boolean }): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  return stats.isSocket() ? "a socket" : "a device";
}
