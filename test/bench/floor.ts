import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServerResponse } from "node:http";
import Database from "better-sqlite3";
import Fastify from "fastify";

/**
 * The least that any such server must do, with the same durability: accept a message, keep it, ask the model, pass
 * the tokens on, read a file when asked, keep the answer. No users, no tools, no recovery: what turnstone costs
 * beyond this is its own.
 */
const folder = process.env["FLOOR_FOLDER"] ?? ".";
const model_url = process.env["FLOOR_MODEL"] ?? "";
const database = new Database(join(folder, "floor.db"));
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec("create table if not exists workstreams (ws_id text primary key, created text)");
database.exec(
  "create table if not exists journal (ws_id text, seq integer, at text, data text, primary key (ws_id, seq))",
);
const insertWorkstream = database.prepare("insert into workstreams values (?, ?)");
const insertEntry = database.prepare("insert into journal values (?, ?, ?, ?)");

interface Conversation {
  seq: number;
  messages: string[];
  readers: Set<ServerResponse>;
}

const conversations = new Map<string, Conversation>();

const append = database.transaction((ws_id: string, conversation: Conversation, rows: readonly string[]) => {
  for (const data of rows) {
    conversation.seq += 1;
    insertEntry.run(ws_id, conversation.seq, new Date().toISOString(), data);
  }
});

function tell(conversation: Conversation, event: object, id?: number): void {
  const frame = `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
  for (const reader of conversation.readers) reader.write(frame);
}

interface ToolCall {
  id: string;
  function: { name: string; arguments: string };
}

async function turn(ws_id: string, conversation: Conversation): Promise<void> {
  for (;;) {
    const answer = await fetch(`${model_url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"model":"bench","stream":true,"messages":[${conversation.messages.join(",")}]}`,
    });
    const { content, calls } = await readAnswer(conversation, answer);
    const assistant = JSON.stringify({
      role: "assistant",
      content,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    });
    conversation.messages.push(assistant);
    append(ws_id, conversation, [assistant]);
    tell(conversation, { type: "assistant", content }, conversation.seq);
    if (calls.length === 0) {
      tell(conversation, { type: "turn_ended", outcome: "done" }, conversation.seq);
      return;
    }
    const results = await Promise.all(
      calls.map(async (call) => {
        const { path } = JSON.parse(call.function.arguments) as { path: string };
        return JSON.stringify({
          role: "tool",
          tool_call_id: call.id,
          content: await readFile(join(folder, path), "utf8"),
        });
      }),
    );
    conversation.messages.push(...results);
    append(ws_id, conversation, results);
    for (const result of results) tell(conversation, { type: "tool_result", output: result }, conversation.seq);
  }
}

async function readAnswer(
  conversation: Conversation,
  answer: Response,
): Promise<{ content: string; calls: ToolCall[] }> {
  const decoder = new TextDecoder();
  let rest = "";
  let content = "";
  let calls: ToolCall[] = [];
  for await (const bytes of answer.body ?? []) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split("\n\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const delta = (
        JSON.parse(line.slice(6)) as { choices: { delta: { content?: string; tool_calls?: ToolCall[] } }[] }
      ).choices[0]?.delta;
      if (delta?.content !== undefined) {
        content += delta.content;
        tell(conversation, { type: "content", text: delta.content });
      }
      if (delta?.tool_calls !== undefined) calls = delta.tool_calls;
    }
  }
  return { content, calls };
}

const app = Fastify();
app.get("/health", () => ({ status: "ok" }));
app.post("/v1/api/workstreams/new", () => {
  const ws_id = randomBytes(16).toString("hex");
  insertWorkstream.run(ws_id, new Date().toISOString());
  conversations.set(ws_id, { seq: 0, messages: [], readers: new Set() });
  return { ws_id };
});
app.post("/v1/api/workstreams/:ws_id/send", (request) => {
  const { ws_id } = request.params as { ws_id: string };
  const conversation = conversations.get(ws_id);
  if (conversation === undefined) throw new Error("unknown");
  const { message } = request.body as { message: string };
  const row = JSON.stringify({ role: "user", content: message });
  conversation.messages.push(row);
  append(ws_id, conversation, [row]);
  void turn(ws_id, conversation);
  return { status: "ok" };
});
app.get("/v1/api/workstreams/:ws_id/events", (request, reply) => {
  const { ws_id } = request.params as { ws_id: string };
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "text/event-stream" });
  reply.raw.write('data: {"type":"connected"}\n\n');
  const readers = conversations.get(ws_id)?.readers;
  readers?.add(reply.raw);
  reply.raw.on("close", () => readers?.delete(reply.raw));
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["FLOOR_PORT"]) });
process.send?.({ ready: true });
