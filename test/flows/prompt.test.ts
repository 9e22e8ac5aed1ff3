import { expect, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct } from "../support/product.ts";

test("what is remembered in mid session leaves the prompt's beginning as it was, for the provider's cache (CTX-12)", async () => {
  const product = await startProduct({ server_only: true });
  try {
    const { model, api } = product;
    model.script([
      reply.toolCalls([{ name: "remember", arguments: { key: "colour", value: "green" } }]),
      reply.text("Noted."),
      reply.text("Green."),
    ]);
    const opened = await api("POST", "/v1/api/workstreams/new", { auto_approve: true });
    const ws_id = String(opened.body["ws_id"]);
    const idle = async (count: number): Promise<void> => {
      while (model.requests.length < count || (await stateOf()) !== "idle") {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const stateOf = async (): Promise<unknown> => {
      const { body } = await api("GET", "/v1/api/dashboard");
      return (body["workstreams"] as { ws_id: string; state: string }[]).find((row) => row.ws_id === ws_id)?.state;
    };
    await api("POST", `/v1/api/workstreams/${ws_id}/send`, { message: "My colour is green." });
    await idle(2);
    await api("POST", `/v1/api/workstreams/${ws_id}/send`, { message: "Which colour?" });
    await idle(3);
    const [first, second, third] = model.requests.map(({ body }) => body as { messages: unknown[]; tools: unknown[] });
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
    expect(third?.messages.slice(0, second?.messages.length)).toEqual(second?.messages);
    expect(third?.tools).toEqual(first?.tools);
  } finally {
    await product.close();
  }
}, 60_000);
