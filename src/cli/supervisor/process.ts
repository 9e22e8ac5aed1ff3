import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { packageRoot } from "../package.ts";

/** How a process ended. */
export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process of ours under this one. */
export interface OwnProcess {
  readonly child: ChildProcess;
  /** Resolves once, also when the process could not be started. */
  readonly ended: Promise<ProcessEnd>;
  /** What it sends over the channel between the two when it can be used; stays open when it sends nothing. */
  readonly ready: Promise<ReadyMessage>;
}

/** What a process of ours sends to the one above it when it can be used. */
export interface ReadyMessage {
  type: "ready";
  /** Of the practice Discord: who lives there, their roles, and the token that its bot logs in with. */
  people?: readonly { id: string; username: string }[];
  bot_token?: string;
  guild_id?: string;
  roles?: readonly { id: string; name: string }[];
}

/** Starts Node on a program of ours. It ends with this process, however that one ends. */
export function startOwnProcess(args: readonly string[], env: Readonly<Record<string, string>>): OwnProcess {
  const bin = join(packageRoot(), "bin");
  const flags = createRequire(import.meta.url)(join(bin, "node_flags.cjs")) as string[];
  const child = spawn(process.execPath, [...flags, "--require", join(bin, "supervised.cjs"), ...args], {
    env: { ...env, TURNSTONE_SUPERVISED: "1" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // Ctrl+C goes to this process alone, which ends the others in their order.
    detached: true,
  });
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once("error", () => resolve({ code: 1, signal: null }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const ready = new Promise<ReadyMessage>((resolve) => {
    child.on("message", (message) => {
      if (isReady(message)) resolve(message);
    });
  });
  return { child, ended, ready };
}

function isReady(message: unknown): message is ReadyMessage {
  return typeof message === "object" && message !== null && "type" in message && message.type === "ready";
}

// A server gives running calls ten seconds to end, and needs a moment for itself.
const STOP_TIMEOUT_MS = 13_000;

/** Asks a process to end and makes it end. */
export async function stopOwnProcess(own: OwnProcess): Promise<ProcessEnd> {
  own.child.kill("SIGTERM");
  const timer = setTimeout(() => own.child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  const end = await own.ended;
  clearTimeout(timer);
  return end;
}
