import { expect, test } from "vitest";
import { assistant, startBench, until, userTurn, type Bench } from "./testing/bench.ts";

const THREADS = 20;
const EDIT_INTERVAL_MS = 1500;
/** Two readings of a clock in whole milliseconds, and a timer that may fire one early. */
const ROUNDING_MS = 2;
/** The words come for seven seconds, of which the first shows the message and the last its end. */
const EDITS_MIN = 3;

/** When each message was edited, as Discord saw it come. */
function editTimes({ practice }: Bench): Map<string, number[]> {
  const times = new Map<string, number[]>();
  for (const { at, method, path, route } of practice.requests) {
    if (method !== "PATCH" || route !== "/channels/:channel_id/messages/:message_id") continue;
    times.set(path, [...(times.get(path) ?? []), at]);
  }
  return times;
}

/** The shortest time between two edits of one message. */
function shortestWait(times: Iterable<number[]>): number {
  return Math.min(...[...times].flatMap((all) => all.slice(1).map((at, index) => at - (all[index] ?? at))));
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
  const edits = [...editTimes(bench).values()];
  expect(edits.filter((times) => times.length >= EDITS_MIN)).toHaveLength(THREADS);
  // The next edit waits from the answer to the last one, so the receiver never sees less than the pace.
  expect(shortestWait(edits)).toBeGreaterThanOrEqual(EDIT_INTERVAL_MS - ROUNDING_MS);
}, 40_000);
