import type { Product } from "./product.ts";

/** Talking to a product as Ada does through the API. */

export async function newWorkstream(running: Product): Promise<string> {
  const created = await running.api("POST", "/v1/api/workstreams/new", {});
  return String(created.body["ws_id"]);
}

export function say(
  running: Product,
  ws_id: string,
  message: string,
  client_send_id: string,
): ReturnType<Product["api"]> {
  return running.api("POST", `/v1/api/workstreams/${ws_id}/send`, { message, client_send_id });
}

/** The agent's words so far. */
export async function answers(running: Product, ws_id: string): Promise<string[]> {
  const { body } = await running.api("GET", `/v1/api/workstreams/${ws_id}/history`);
  const messages = body["messages"] as { role: string; content: string }[];
  return messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
}

export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}
