import { median, type Row } from "../measure.ts";
import { residentMegabytes, type StreamEvent, type Subject } from "../subject.ts";

/** One subject's figures of one run. */
export interface Loads {
  start_ms: number;
  idle_mb: number;
  mb_per_workstream: number;
  at_once_50: number;
  at_once_200: number;
  readers_200: number;
  readers_500: number;
  complete: number;
}

async function workstreamsAtOnce(subject: Subject, count: number): Promise<number> {
  const ids = await Promise.all(Array.from({ length: count }, () => subject.newWorkstream()));
  let left = count;
  let allEnded = (): void => {};
  const ended = new Promise<void>((resolve) => (allEnded = resolve));
  const closers = await Promise.all(
    ids.map((ws_id) =>
      subject.stream(ws_id, (event) => {
        if (event.type !== "turn_ended") return;
        left -= 1;
        if (left === 0) allEnded();
      }),
    ),
  );
  const before = performance.now();
  await Promise.all(ids.map((ws_id) => subject.send(ws_id, "bench:text tokens=50 pace=5")));
  await ended;
  const wall = performance.now() - before;
  for (const close of closers) close();
  return wall;
}

/** One workstream read by many: wall time until each has the whole, and the share that got all of it. */
async function readers(subject: Subject, count: number): Promise<{ wall: number; complete: number }> {
  const ws_id = await subject.newWorkstream();
  const texts = Array.from({ length: count }, () => "");
  let left = count;
  let allEnded = (): void => {};
  const ended = new Promise<void>((resolve) => (allEnded = resolve));
  const closers = await Promise.all(
    texts.map((_text, index) =>
      subject.stream(ws_id, (event: StreamEvent) => {
        if (event.type === "content") texts[index] += event.text ?? "";
        if (event.type !== "turn_ended") return;
        left -= 1;
        if (left === 0) allEnded();
      }),
    ),
  );
  const before = performance.now();
  await subject.send(ws_id, "bench:text tokens=200 pace=5");
  await ended;
  const wall = performance.now() - before;
  for (const close of closers) close();
  return { wall, complete: texts.filter((text) => text.trim().split(" ").length === 200).length / count };
}

/** Figures of a subject that was just started. */
export async function measureLoads(subject: Subject): Promise<Loads> {
  const idle_mb = residentMegabytes(subject.pid);
  await workstreamsAtOnce(subject, 10);
  const at_once_50 = await workstreamsAtOnce(subject, 50);
  const before = residentMegabytes(subject.pid);
  const at_once_200 = await workstreamsAtOnce(subject, 200);
  const mb_per_workstream = Math.max(0, residentMegabytes(subject.pid) - before) / 200;
  const few = await readers(subject, 200);
  const many = await readers(subject, 500);
  return {
    start_ms: subject.start_ms,
    idle_mb,
    mb_per_workstream,
    at_once_50,
    at_once_200,
    readers_200: few.wall,
    readers_500: many.wall,
    complete: Math.min(few.complete, many.complete),
  };
}

/** The rows of all runs: medians of what each subject showed. */
export function loadRows(floor: readonly Loads[], turnstone: readonly Loads[]): Row[] {
  const row = (name: string, key: keyof Loads, unit: string, bar: number): Row => ({
    name,
    unit,
    floor: median(floor.map((run) => run[key])),
    turnstone: median(turnstone.map((run) => run[key])),
    bar,
  });
  return [
    row("start -> ready", "start_ms", "ms", 2.6),
    row("idle memory", "idle_mb", "MB", 1.7),
    row("50 workstreams at once, wall", "at_once_50", "ms", 1.8),
    row("200 workstreams at once, wall", "at_once_200", "ms", 1.8),
    row("200 readers of one stream, wall", "readers_200", "ms", 1.5),
    row("500 readers of one stream, wall", "readers_500", "ms", 1.5),
    { ...row("readers that got everything", "complete", "share", 1), floor: 1 },
    { ...row("memory per live workstream (bar 0.25 MB)", "mb_per_workstream", "MB", 1), floor: 0.25 },
  ];
}
