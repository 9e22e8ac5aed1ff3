/** A file as it was when the conversation last saw it. */
export interface FileRecord {
  /** With every link resolved. */
  real_path: string;
  /** Milliseconds. */
  mtime_ms: number;
  /** SHA-256 of the bytes. */
  hash: string;
}
