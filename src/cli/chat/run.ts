import type { Interface } from "node:readline";
import { createInterface } from "node:readline";
import type { Config } from "../../config/load.ts";
import type { Terminal } from "../terminal.ts";
import type { ChatClient } from "./client.ts";
import { createChatClient } from "./client.ts";
import { identify } from "./identity.ts";
import { ChatSession } from "./session.ts";
import { styleFor } from "./style.ts";
import { createTranscript } from "./transcript.ts";

export interface ChatOptions {
  /** Alias, id or unique beginning of a workstream; null begins a new one. */
  workstream: string | null;
  user: string | null;
}

// What fits a screen or two: enough to know where one was.
const HISTORY_SHOWN = 20;

/** Talks with a workstream until the person leaves, or until what came through a pipe has been answered. */
export async function runChat(config: Config, options: ChatOptions, terminal: Terminal): Promise<void> {
  const identity = await identify(config, options.user);
  if (!identity.ok) return terminal.fail(identity.error);
  const client = createChatClient(config.gateway.server_url, identity.token);
  const opened = await client.open(options.workstream);
  if (!opened.ok) return terminal.fail(opened.error);
  const { ws_id, name } = opened.value;
  const history = await client.history(ws_id, HISTORY_SHOWN);
  if (!history.ok) return terminal.fail(history.error);

  terminal.print(`${name} (${ws_id}); /help lists commands, /quit leaves.`);
  for (const message of history.value.messages) {
    if (message.role !== "tool") terminal.print(`${message.role === "user" ? "> " : ""}${message.content}`);
  }
  await converse(client, ws_id, String(history.value.cursor));
}

async function converse(client: ChatClient, ws_id: string, after: string): Promise<void> {
  const { stdin, stdout } = process;
  const lines = createInterface({ input: stdin, output: stdout, terminal: stdin.isTTY });
  const left = new AbortController();
  // Whether the line at the bottom is the prompt; what is said meanwhile goes above it.
  let prompted = false;
  const session = new ChatSession(client, ws_id, createTranscript(styleFor(stdout)), {
    write(text) {
      if (prompted) stdout.write("\r\u001B[K");
      prompted = false;
      stdout.write(text);
    },
    refresh() {
      lines.setPrompt(session.prompt);
      if (!stdin.isTTY || (session.busy && !session.asking)) return;
      lines.prompt(true);
      prompted = true;
    },
  });
  const followed = session.follow(after, left.signal);
  if (stdin.isTTY) listenToKeys(lines, session);
  lines.on("SIGINT", () => {
    if (session.busy) void session.stopTurn();
    else lines.close();
  });
  if (stdin.isTTY) lines.prompt();
  for await (const line of lines) {
    prompted = false;
    if (!(await session.enter(line))) break;
    // A script cannot see when it is its turn; its next line counts as said after the answer, or to the question.
    if (!stdin.isTTY) await session.idle(left.signal);
  }
  left.abort();
  lines.close();
  await followed;
}

/** Lets one key answer a question, as long as nothing else has been written on the line. */
function listenToKeys(lines: Interface, session: ChatSession): void {
  process.stdin.on("keypress", (key: string | undefined) => {
    if (key === undefined || lines.line !== key || !session.press(key)) return;
    lines.write(null, { ctrl: true, name: "u" });
  });
}
