import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

let product: Product | null = null;

afterEach(async () => {
  await product?.close();
  product = null;
});

/** Longer than running calls are waited for at a stop, and than what comes after may take on a busy machine. */
const STOP_MS_MAX = 25_000;

async function openStream({ server_url, token }: Product, ws_id: string): Promise<{ ended: Promise<void> }> {
  const response = await fetch(`${server_url}/v1/api/workstreams/${ws_id}/events`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(200);
  const reader = response.body?.getReader();
  const read = async (): Promise<void> => {
    while ((await reader?.read())?.done === false);
  };
  return { ended: read().catch(() => {}) };
}

/** Whether a program runs on this machine with exactly these words; in a sandbox its own number says nothing. */
function isRunning(...words: string[]): boolean {
  return readdirSync("/proc").some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8") === `${words.join("\0")}\0`;
    } catch {
      return false;
    }
  });
}

// REQ-CRASH-009
test.skipIf(process.platform !== "linux")(
  "a stop ends streams and commands, exits with 0, and the next start tells the model what is unknown (SSE-11)",
  async () => {
    product = await startProduct({ server_only: true });
    const running = product;
    const { practice, model } = running;
    const marks = [`301.${process.pid}`, `302.${process.pid}`];
    model.script([
      reply.toolCalls([{ name: "bash", arguments: { command: `sleep ${marks[0]} & sleep ${marks[1]}` } }]),
      reply.text("Then I leave it at that."),
    ]);
    const created = await running.api("POST", "/v1/api/workstreams/new", { auto_approve: true });
    const ws_id = String(created.body["ws_id"]);
    const streams = await Promise.all(Array.from({ length: 10 }, () => openStream(running, ws_id)));
    await running.api("POST", `/v1/api/workstreams/${ws_id}/send`, { message: "work for a long time" });
    await practice.waitFor(() => marks.every((mark) => isRunning("sleep", mark)));
    const began = performance.now();
    expect(await running.stopServer()).toBe(0);
    expect(performance.now() - began).toBeLessThan(STOP_MS_MAX);
    await Promise.all(streams.map(({ ended }) => ended));
    await practice.waitFor(() => !marks.some((mark) => isRunning("sleep", mark)));
    await running.startServer();
    const told = await model.nextRequest().then(() => model.nextRequest());
    expect(JSON.stringify(told.body)).toContain("outcome is unknown");
    expect(model.problems).toEqual([]);
  },
  90_000,
);
