/** A program to start. It gets exactly this environment, no input, and a process group of its own. */
export interface SpawnRequest {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Milliseconds from the start until it is stopped. */
  timeout_ms: number;
  /** Called with raw bytes as they come, stdout and stderr in one stream in the order they came. */
  onOutput(bytes: Uint8Array): void;
  signal: AbortSignal;
  /** Bytes for standard input; closed at once where absent. */
  input?: string;
}

export type SpawnResult =
  | { status: "exited"; exit_code: number | null; signal_name: string | null }
  | { status: "timed_out" }
  | { status: "aborted" }
  | { status: "not_started"; error: string };

/**
 * Starts programs from a small helper process, because forking the server would copy its page tables and stop every
 * stream meanwhile. The call ends when the program ends and its output has drained; 200 ms later nobody listens any more and
 * what is left of its group is killed. On a timeout or an abort the group gets SIGTERM, and SIGKILL 2 s later.
 */
export interface Spawner {
  run(request: SpawnRequest): Promise<SpawnResult>;
  /** Ends all programs and the helper. */
  close(): Promise<void>;
}
