import { nowMicroseconds } from "../model.ts";
import { median, quantile, type Row } from "../measure.ts";
import { cpuSeconds, type BenchModel, type StreamEvent, type Subject } from "../subject.ts";

/** Messages before the clock counts: code is compiled, connections are open. */
const WARM_UP = 30;

/** One subject's figures of one run. */
export interface Latencies {
  to_request: number;
  new_to_request: number;
  first_token: number;
  token_p50: number;
  token_p95: number;
  cpu_per_token: number;
  round: number;
  round_drift: number;
  eight_calls: number;
  growth: number;
}

/** A workstream whose turns can be waited for. */
export interface Conversation {
  ws_id: string;
  close(): void;
  listen(listener: (event: StreamEvent, at: number) => void): void;
  /** Resolves when the turn has ended. */
  turn(message: string): Promise<void>;
}

/** Opens one and reads its stream. */
export async function openConversation(subject: Subject): Promise<Conversation> {
  const ws_id = await subject.newWorkstream();
  let ended = (): void => {};
  let onEvent = (_event: StreamEvent, _at: number): void => {};
  const close = await subject.stream(ws_id, (event, at) => {
    onEvent(event, at);
    if (event.type === "turn_ended") ended();
  });
  return {
    ws_id,
    close,
    listen(listener) {
      onEvent = listener;
    },
    async turn(message) {
      const { promise, resolve } = Promise.withResolvers<void>();
      ended = resolve;
      await subject.send(ws_id, message);
      await promise;
    },
  };
}

async function requestDelay(model: BenchModel, conversation: Conversation): Promise<number> {
  await model.observed();
  const before = nowMicroseconds();
  await conversation.turn("bench:text tokens=1");
  return ((await model.observed())[0]?.received ?? Number.NaN) - before;
}

async function newDelay(subject: Subject, model: BenchModel): Promise<number> {
  await model.observed();
  const before = nowMicroseconds();
  const ws_id = await subject.newWorkstream();
  await subject.send(ws_id, "bench:text tokens=1");
  for (;;) {
    const [seen] = await model.observed();
    if (seen !== undefined) return seen.received - before;
  }
}

async function tokenDelays(conversation: Conversation, tokens: number, pace_ms: number): Promise<number[]> {
  const delays: number[] = [];
  conversation.listen((event, at) => {
    if (event.type !== "content") return;
    for (const stamp of (event.text ?? "").trim().split(" ")) delays.push(at - Number(stamp));
  });
  await conversation.turn(`bench:text tokens=${tokens} pace=${pace_ms}`);
  conversation.listen(() => {});
  return delays;
}

async function rounds(
  conversation: Conversation,
  model: BenchModel,
  count: number,
  parallel: number,
): Promise<number[]> {
  await model.observed();
  await conversation.turn(`bench:rounds count=${count} parallel=${parallel} tool=read_file tokens=1`);
  const seen = await model.observed();
  return seen.slice(1).map((request, index) => request.received - (seen[index]?.answered ?? Number.NaN));
}

/** All latencies of one subject. */
export async function measureLatencies(subject: Subject, model: BenchModel): Promise<Latencies> {
  const conversation = await openConversation(subject);
  for (let index = 0; index < WARM_UP; index += 1) await conversation.turn("bench:text tokens=5");
  const to_request: number[] = [];
  for (let index = 0; index < 30; index += 1) to_request.push(await requestDelay(model, conversation));
  const new_to_request: number[] = [];
  for (let index = 0; index < 20; index += 1) new_to_request.push(await newDelay(subject, model));
  const first: number[] = [];
  for (let index = 0; index < 20; index += 1) first.push((await tokenDelays(conversation, 1, 0))[0] ?? Number.NaN);
  const paced = await tokenDelays(conversation, 200, 5);
  const cpu_before = cpuSeconds(subject.pid);
  for (let index = 0; index < 5; index += 1) await tokenDelays(conversation, 2000, 0);
  const cpu_per_token = ((cpuSeconds(subject.pid) - cpu_before) * 1e6) / 10_000;
  conversation.close();

  const worker = await openConversation(subject);
  await rounds(worker, model, 10, 1);
  const gaps = await rounds(worker, model, 50, 1);
  worker.close();
  const reader = await openConversation(subject);
  await rounds(reader, model, 5, 8);
  const eight = await rounds(reader, model, 10, 8);
  reader.close();

  const long = await openConversation(subject);
  const turns: number[] = [];
  for (let index = 0; index < 100; index += 1) turns.push(await requestDelay(model, long));
  long.close();
  return {
    to_request: median(to_request),
    new_to_request: median(new_to_request),
    first_token: median(first),
    token_p50: median(paced),
    token_p95: quantile(paced, 0.95),
    cpu_per_token,
    round: median(gaps),
    round_drift: median(gaps.slice(-10)) / median(gaps.slice(0, 10)),
    eight_calls: median(eight),
    growth: median(turns.slice(90, 100)) / median(turns.slice(10, 20)),
  };
}

/** The rows of all runs: medians of what each subject showed. */
export function latencyRows(floor: readonly Latencies[], turnstone: readonly Latencies[]): Row[] {
  const row = (name: string, key: keyof Latencies, unit: string, bar: number | null, scale = 1): Row => ({
    name,
    unit,
    floor: median(floor.map((run) => run[key])) / scale,
    turnstone: median(turnstone.map((run) => run[key])) / scale,
    bar,
  });
  return [
    row("message accepted -> the model has the request", "to_request", "ms", 2.5, 1000),
    row("new workstream + its first request", "new_to_request", "ms", 4, 1000),
    row("model's first token -> SSE client", "first_token", "ms", 2, 1000),
    row("added per token at 5 ms pacing, p50", "token_p50", "ms", 1.3, 1000),
    row("added per token at 5 ms pacing, p95", "token_p95", "ms", 2, 1000),
    row("CPU per token in a burst of 2,000", "cpu_per_token", "us", 2.5),
    row("gap of a read_file round, 50 rounds", "round", "ms", 2.5, 1000),
    {
      ...row("provider's last byte -> next request, with a read_file (bar 5 ms)", "round", "ms", 1, 1000),
      floor: 5,
    },
    { ...row("last ten rounds against the first ten", "round_drift", "x", 1.25), floor: 1 },
    {
      name: "8 parallel read_file calls against one",
      unit: "ms",
      floor: median(turnstone.map((run) => run.round)) / 1000,
      turnstone: median(turnstone.map((run) => run.eight_calls)) / 1000,
      bar: 2,
    },
    row("turn 95 against turn 15", "growth", "x", 1.2),
  ];
}
