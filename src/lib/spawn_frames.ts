/**
 * The language between the server and its spawn helper: frames over a pair of byte streams. A frame is its payload's
 * length (4 bytes, big-endian), its kind (1 byte), the job's number (4 bytes), and the payload.
 */
export const FRAME_KINDS = {
  /** Server to helper, payload `StartOrder` as JSON. */
  start: 1,
  /** Server to helper: bytes for the program's standard input. */
  input: 2,
  /** Server to helper: no more input. */
  input_end: 3,
  /** Server to helper: end the program. */
  stop: 4,
  /** Server to helper: this many bytes of output (4 bytes) were consumed. */
  credit: 5,
  /** Helper to server: the program runs; payload its process id (4 bytes), which is also its group's. */
  started: 6,
  /** Helper to server: bytes of output. */
  output: 7,
  /** Helper to server, payload `SpawnResult` as JSON. The last frame of a job. */
  ended: 8,
  /** Helper to server: bytes of stderr, where it is apart. */
  error_output: 9,
} as const;
export type FrameKind = (typeof FRAME_KINDS)[keyof typeof FRAME_KINDS];

/** What the helper needs to know to start a program. */
export interface StartOrder {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeout_ms: number | null;
  /** Whether standard input is a stream; else it is empty. */
  has_input: boolean;
  /** Whether stderr has a pipe of its own. */
  splits_errors: boolean;
  /** Whether the next one of its kind may be started ahead. */
  spare: boolean;
  /** Whether the leader of the group only watches over the program. */
  supervised: boolean;
}

const HEADER_BYTES = 9;

/** No frame is longer: input is cut into pieces by the sender. An overlong length means that the stream is broken. */
export const FRAME_PAYLOAD_MAX = 4 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);

export function encodeFrame(kind: FrameKind, job: number, payload: Uint8Array = EMPTY): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame.writeUInt32BE(payload.length, 0);
  frame.writeUInt8(kind, 4);
  frame.writeUInt32BE(job, 5);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

/** A payload of one number below 2³². */
export function encodeNumber(value: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(value, 0);
  return payload;
}

export interface Frame {
  kind: number;
  job: number;
  payload: Buffer;
}

/** Puts frames together from pieces of a stream. Throws when the stream cannot be one of ours. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #length = 0;

  /** The frames that are complete with this piece. */
  push(piece: Buffer): Frame[] {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < HEADER_BYTES) return [];
    const header = this.#pieces[0];
    if (header !== undefined && header.length >= 4 && this.#length < HEADER_BYTES + header.readUInt32BE(0)) return [];
    return this.#take(this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces, this.#length));
  }

  #take(bytes: Buffer): Frame[] {
    const frames: Frame[] = [];
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const length = bytes.readUInt32BE(at);
      if (length > FRAME_PAYLOAD_MAX) throw new Error("The stream between server and spawn helper is broken.");
      const end = at + HEADER_BYTES + length;
      if (end > bytes.length) break;
      frames.push({
        kind: bytes.readUInt8(at + 4),
        job: bytes.readUInt32BE(at + 5),
        payload: bytes.subarray(at + HEADER_BYTES, end),
      });
      at = end;
    }
    const rest = bytes.subarray(at);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return frames;
  }
}
