import { expect, test } from "vitest";
import { assistant, startBench, until, userTurn, type Bench } from "./testing/bench.ts";

const THREADS = 20;
const EDIT_INTERVAL_MS = 1500;
/** What a timer and a request on the way may take from the time between two edits, as the receiver measures it. */
const JITTER_MS = 150;

/** Times between two edits of the same message that are shorter than the pace. */
function tooQuick(bench: Bench): string[] {
  const before = new Map<string, number>();
  return bench.practice.requests.flatMap(({ at, method, path, route }) => {
    if (method !== "PATCH" || route !== "/channels/:channel_id/messages/:message_id") return [];
    const waited = at - (before.get(path) ?? Number.NEGATIVE_INFINITY);
    before.set(path, at);
    return waited < EDIT_INTERVAL_MS - JITTER_MS ? [`${path} after ${waited} ms`] : [];
  });
}

// REQ-GATEWAY-009
test("twenty threads stream at once: paced edits, whole texts, no refusal for haste (DREN-11, DREN-12)", async () => {
  await using bench = await startBench({ discord: { edit_interval_ms: EDIT_INTERVAL_MS } });
  bench.link("Ada");
  const begun: Awaited<ReturnType<Bench["begin"]>>[] = [];
  for (let thread = 0; thread < THREADS; thread += 1) begun.push(await bench.begin("Ada", `Tell me about ${thread}.`));
  const said = begun.map(() => "");
  for (const message of begun) {
    bench.server.emit(message.ws_id, userTurn(message));
    bench.server.emit(message.ws_id, { type: "thinking_start", model_call_id: "1.1", model_alias: "test" });
  }
  for (let piece = 0; piece < 140; piece += 1) {
    for (const [index, message] of begun.entries()) {
      const text = `word${piece} `;
      said[index] += text;
      bench.server.emit(message.ws_id, { type: "content", text });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const [index, message] of begun.entries()) {
    bench.server.emit(message.ws_id, assistant(`${said[index]}and that is all of ${index}.`));
    bench.server.emit(message.ws_id, {
      type: "status",
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      context_window: 100,
      pct: 15,
      effort: "",
      model_alias: "test",
      duration_ms: 100,
    });
    bench.server.emit(message.ws_id, { type: "turn_ended", outcome: "done" });
  }
  const ended = (thread: string): boolean => (bench.server.routes.get(thread)?.cursor_seq ?? 0) >= 4;
  await until(() => begun.every(({ thread }) => ended(thread)), 20_000);
  for (const [index, { thread }] of begun.entries()) {
    const texts = bench.practice.messages(thread).map(({ content }) => content);
    const answer = `${said[index]}and that is all of ${index}.`;
    expect(texts.filter((text) => text.includes(answer) && text.includes("-# test"))).toHaveLength(1);
  }
  expect(bench.practice.requests.filter(({ status }) => status === 429)).toEqual([]);
  expect(tooQuick(bench)).toEqual([]);
}, 40_000);
