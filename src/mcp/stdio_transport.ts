import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../lib/log.ts";
import type { ProgramInput, Spawner } from "../lib/spawn.ts";
import { isJsonObject } from "../protocol/json.ts";
import { LineSplitter } from "./line_splitter.ts";
import { ErrorOutput } from "./error_output.ts";

/** How long a program that lost its input may take to end by itself. */
const ORDERLY_END_MS = 1500;

/** Bytes of one message; a longer one would not fit into any context, nor into this process. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

export interface StdioProgram {
  command: string;
  args: readonly string[];
  /** All that the program gets. */
  env: Readonly<Record<string, string>>;
  cwd: string;
}

/**
 * Speaks with a server over its standard input and output, one JSON object a line. The program is started by the
 * spawner's helper and ends with it. What it prints besides messages goes to the log.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: StdioProgram;
  readonly #spawner: Spawner;
  readonly #log: Log;
  readonly #stopped = new AbortController();
  #input: ProgramInput | null = null;
  #ended: Promise<void> = Promise.resolve();
  #how_ended: string | null = null;

  constructor(program: StdioProgram, spawner: Spawner, log: Log) {
    this.#program = program;
    this.#spawner = spawner;
    this.#log = log;
  }

  /** Why the program is gone, in words; null while it runs. */
  get howEnded(): string | null {
    return this.#how_ended;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#program;
    const started = Promise.withResolvers<void>();
    const lines = new LineSplitter(MESSAGE_BYTES_MAX, (line) => this.#onLine(line));
    const errors = new ErrorOutput(this.#log);
    const run = this.#spawner.run({
      file: command,
      args,
      env,
      cwd,
      timeout_ms: null,
      signal: this.#stopped.signal,
      onOutput: (bytes) => {
        if (!lines.push(bytes)) this.#fail(`sent a message of more than ${MESSAGE_BYTES_MAX} bytes`);
      },
      onErrorOutput: (bytes) => errors.push(bytes),
      onStarted: (input) => {
        this.#input = input;
        started.resolve();
      },
    });
    const end = async (): Promise<void> => {
      const result = await run;
      errors.end();
      this.#input = null;
      this.#how_ended ??= result.status === "not_started" ? result.error : describeEnd(result, errors.lastLine);
      started.reject(new Error(this.#how_ended));
      this.onclose?.();
    };
    this.#ended = end();
    // A transport that nobody waits for any more must not take the process down.
    started.promise.catch(() => {});
    return started.promise;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#input === null) return Promise.reject(new Error(this.#how_ended ?? "The program is not running."));
    this.#input.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  /** Closes the program's input, waits a little, then ends it and all of its group. */
  async close(): Promise<void> {
    this.#how_ended ??= "The connection was closed.";
    this.#input?.end();
    const timer = setTimeout(() => this.#stopped.abort(), ORDERLY_END_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  #onLine(line: string): void {
    const message = parseMessage(line);
    if (message === null) this.#log.debug("mcp.stray_output", { line: line.slice(0, 500) });
    else this.onmessage?.(message);
  }

  #fail(why: string): void {
    this.#how_ended ??= `The program ${why}.`;
    this.#stopped.abort();
  }
}

/** A JSON-RPC 2.0 object; null for what servers print by mistake. */
function parseMessage(line: string): JSONRPCMessage | null {
  if (!line.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(line);
    // The protocol's own reader looks at the rest and reports what does not fit.
    return isJsonObject(value) && value["jsonrpc"] === "2.0" ? (value as unknown as JSONRPCMessage) : null;
  } catch {
    return null;
  }
}

function describeEnd(
  result: { status: string; exit_code?: number | null; signal_name?: string | null },
  last_line: string,
): string {
  const how =
    typeof result.exit_code === "number"
      ? `The program ended with exit code ${result.exit_code}`
      : `The program was ended${typeof result.signal_name === "string" ? ` by ${result.signal_name}` : ""}`;
  return last_line === "" ? `${how}.` : `${how}; it last said: ${last_line}`;
}
