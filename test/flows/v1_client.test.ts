import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";
import { V1Client, type V1Frame } from "../support/v1_client.ts";

let product: Product;
let client: V1Client;

beforeAll(async () => {
  product = await startProduct({ server_only: true });
  client = new V1Client(product.server_url);
}, 60_000);

afterAll(() => product?.close());

async function newWorkstream(): Promise<string> {
  const { body } = await client.create({ name: "by the book" });
  expect(body).toEqual({
    ws_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    name: "by the book",
    resumed: false,
    message_count: 0,
  });
  return String(body["ws_id"]);
}

/** Reads a workstream's stream until the turn that is open, or comes, has ended. */
async function turn(ws_id: string, begin: () => Promise<unknown>, after?: number): Promise<V1Frame[]> {
  const stop = new AbortController();
  const frames: V1Frame[] = [];
  try {
    for await (const frame of client.events(ws_id, stop.signal, after)) {
      frames.push(frame);
      if (frames.length === 1) await begin();
      if (frame.event.type === "turn_ended") return frames;
    }
  } finally {
    stop.abort();
  }
  throw new Error("The stream ended before the turn did.");
}

test("login, health and dashboard answer as described", async () => {
  expect(await client.login(product.token)).toMatchObject({
    status: "ok",
    role: expect.any(String),
    scopes: "read,write,approve",
    jwt: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    user_id: expect.any(String),
  });
  expect((await client.health()).body).toMatchObject({
    status: expect.stringMatching(/^(ok|degraded)$/),
    version: expect.any(String),
    node_id: expect.any(String),
    uptime_seconds: expect.any(Number),
    workstreams: { total: 0, idle: 0, thinking: 0, running: 0, attention: 0, error: 0 },
    backend: { status: "up", circuit_state: "closed" },
  });
  expect((await client.dashboard()).body).toMatchObject({ workstreams: [], aggregate: expect.any(Object) });
});

test("create, sendAndWait and history: the frames have the order and the fields that are promised", async () => {
  const ws_id = await newWorkstream();
  product.model.script([reply.text("Reykjavík it is."), reply.text("You are welcome.")]);
  const frames = await turn(ws_id, () => client.send(ws_id, "What is the capital of Iceland?"));
  expect(frames[0]).toMatchObject({
    id: null,
    event: { type: "connected", model: "scripted", model_alias: "default", skip_permissions: false },
  });
  const kept = frames.filter(({ id }) => id !== null);
  expect(kept.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  expect(kept.map(({ event }) => event)).toMatchObject([
    { type: "user_turn", content: "What is the capital of Iceland?", client_send_ids: [] },
    { type: "assistant", content: "Reykjavík it is.", tool_calls: [], usage: expect.any(Object), stop_reason: "stop" },
    { type: "status", total_tokens: expect.any(Number), context_window: expect.any(Number), pct: expect.any(Number) },
    { type: "turn_ended", outcome: "done" },
  ]);
  const text = frames.flatMap(({ event }) => (event.type === "content" ? [String(event["text"])] : [])).join("");
  expect(text).toBe("Reykjavík it is.");
  const types = frames.map(({ event }) => event.type);
  for (const type of ["state_change", "ws_state", "thinking_start", "thinking_stop", "stream_end"]) {
    expect(types).toContain(type);
  }
  expect(await client.sendAndWait(ws_id, "Thank you.")).toBe("You are welcome.");
  const { body } = await client.history(ws_id);
  expect(body).toMatchObject({ ws_id, cursor: 8, handoff_token: expect.any(String) });
  expect((body["messages"] as { role: string; content: string }[]).map(({ role, content }) => [role, content])).toEqual(
    [
      ["user", "What is the capital of Iceland?"],
      ["assistant", "Reykjavík it is."],
      ["user", "Thank you."],
      ["assistant", "You are welcome."],
    ],
  );
  const replayed = await turn(ws_id, () => Promise.resolve(), 5);
  expect(replayed.flatMap(({ id }) => (id === null ? [] : [id]))).toEqual([6, 7, 8]);
});

test("approve: what is asked for is told whole, and runs when the client says so", async () => {
  const ws_id = await newWorkstream();
  const command = "printf one >> v1.txt";
  product.model.script([reply.toolCalls([{ name: "bash", arguments: { command } }]), reply.text("Written.")]);
  let asked: V1Frame["event"] | null = null;
  const text = await client.sendAndWait(ws_id, "Write it.", (request) => {
    asked = request;
    expect(existsSync(join(product.workspace, "v1.txt"))).toBe(false);
    return { approved: true, feedback: "go ahead" };
  });
  expect(text).toBe("Written.");
  expect(asked).toMatchObject({
    type: "approve_request",
    cycle_id: expect.any(String),
    items: [
      {
        call_id: expect.any(String),
        func_name: "bash",
        needs_approval: true,
        error: null,
        preview: expect.stringContaining(command),
      },
    ],
  });
  expect(readFileSync(join(product.workspace, "v1.txt"), "utf8")).toBe("one");
  await expect(client.approve(ws_id, { approved: true })).rejects.toThrow("answered 409");
});

test("cancel: the turn ends, nothing has run, and the workstream goes on", async () => {
  const ws_id = await newWorkstream();
  product.model.script([
    reply.toolCalls([{ name: "bash", arguments: { command: "touch never" } }]),
    reply.text("Still here."),
  ]);
  const frames = await turn(ws_id, async () => {
    await client.send(ws_id, "Touch it.");
    const stop = new AbortController();
    for await (const { event } of client.events(ws_id, stop.signal)) if (event.type === "approve_request") break;
    stop.abort();
    expect((await client.cancel(ws_id)).body).toMatchObject({ status: "ok", dropped: 0 });
  });
  expect(frames.at(-1)?.event).toMatchObject({ type: "turn_ended", outcome: "cancelled" });
  expect(existsSync(join(product.workspace, "never"))).toBe(false);
  expect(await client.sendAndWait(ws_id, "Still there?")).toBe("Still here.");
});
