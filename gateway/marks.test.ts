import { array, assert, asyncProperty, boolean, constant, oneof, record, type Arbitrary } from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../src/lib/clock.ts";
import { silentLog } from "../src/lib/log.ts";
import { createHeardMarks } from "./inbound/heard.ts";
import { GENEROUS_RATE_LIMITS } from "./practice/index.ts";
import { startBench, until, type Bench } from "./testing/bench.ts";

const HOUR_MS = 3_600_000;

/** A bench whose hours pass as the test says, for both sides. */
async function startLater() {
  const time = { ahead_ms: -6 * HOUR_MS };
  const now = (): number => Date.now() + time.ahead_ms;
  const practice = { now, rate_limits: GENEROUS_RATE_LIMITS };
  const bench = await startBench({ practice, clock: { ...systemClock, now } });
  bench.link("Ada");
  return { bench, pass: (hours: number) => void (time.ahead_ms += hours * HOUR_MS) };
}

function historyRequests({ practice }: Bench): number {
  return practice.requests.filter(({ method, path }) => method === "GET" && path.includes("/messages?")).length;
}

function chatter({ practice }: Bench, count: number): void {
  for (let index = 0; index < count; index += 1) practice.as("Ben").say("general", `chatter ${index}`);
}

test("a start reads a channel from where everything was heard, not its whole day", async () => {
  const { bench, pass } = await startLater();
  await using _ = bench;
  const { practice } = bench;
  const ada = practice.as("Ada");
  await bench.gateway.stop();
  chatter(bench, 5000);
  ada.say("general", `<@${practice.bot_id}> before`);
  await bench.restart();
  expect((await bench.sent(1)).message).toBe("before");
  pass(1);
  await bench.begin("Ada", "live");
  await bench.gateway.stop();
  chatter(bench, 30);
  ada.say("general", `<@${practice.bot_id}> after`);
  const before = historyRequests(bench);
  await bench.restart();
  expect((await bench.sent(3)).message).toBe("after");
  await bench.gateway.stop();
  expect(historyRequests(bench) - before).toBeLessThanOrEqual(4);
  expect(bench.server.sent.map(({ message }) => message)).toEqual(["before", "live", "after"]);
}, 60_000);

test("a gateway that is killed between a message and its mark hears it once, and what came before it as well", async () => {
  const { bench, pass } = await startLater();
  await using _ = bench;
  const { practice } = bench;
  bench.server.refuse = ({ method, url }) =>
    method === "POST" && url.endsWith("/marks") ? { status: 503, body: { error: "Too late." } } : null;
  await bench.begin("Ada", "accepted");
  pass(1);
  await bench.gateway.stop();
  practice.as("Ada").say("general", `<@${practice.bot_id}> missed`);
  await bench.restart();
  expect((await bench.sent(2)).message).toBe("missed");
  await bench.gateway.stop();
  expect(bench.server.sent).toHaveLength(2);
});

test("a mention that the server could not take is found by a later start, whatever was said and heard after it", async () => {
  const { bench, pass } = await startLater();
  await using _ = bench;
  const { practice, server } = bench;
  await bench.begin("Ada", "first");
  pass(1);
  const tried = new Set<string>();
  server.refuse = ({ method, url }) => {
    if (!url.endsWith("/workstreams/new")) return null;
    tried.add(method);
    return { status: 503, body: { error: "Away." } };
  };
  const lost = practice.as("Ada").say("general", `<@${practice.bot_id}> do not lose me`);
  await until(() => tried.size > 0);
  chatter(bench, 3);
  pass(1);
  await bench.gateway.stop();
  for (const heard_id of server.marks.values()) expect(BigInt(heard_id)).toBeLessThan(BigInt(lost.id));
  server.refuse = () => null;
  await bench.restart();
  expect((await bench.sent(2)).message).toBe("do not lose me");
}, 60_000);

test("whoever was told that the server is away is heard by a gateway that starts after it", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice, server } = bench;
  server.refuse = ({ url }) => (url.includes("/links/") ? { status: 503, body: { error: "Away." } } : null);
  practice.as("Ada").say("general", `<@${practice.bot_id}> do not lose me`);
  await bench.practice.waitFor(() => practice.channelAsText("general").includes("My server does not answer"), {
    timeout_ms: 20_000,
  });
  await bench.gateway.stop();
  server.refuse = () => null;
  await bench.restart();
  expect((await bench.sent(1)).message).toBe("do not lose me");
}, 60_000);

/** What happens in one channel; numbers are messages in the order of their ids. */
type Happening = { kind: "said"; settles: boolean } | { kind: "over" } | { kind: "interrupted" } | { kind: "read" };

const happening: Arbitrary<Happening> = oneof(
  { weight: 4, arbitrary: record({ kind: constant("said" as const), settles: boolean() }) },
  { weight: 4, arbitrary: constant({ kind: "over" as const }) },
  { weight: 1, arbitrary: constant({ kind: "interrupted" as const }) },
  { weight: 1, arbitrary: constant({ kind: "read" as const }) },
);

test("no mark is ever ahead of a message that is not settled, or that may have been missed", async () => {
  await assert(
    asyncProperty(array(happening, { maxLength: 30 }), async (happenings) => {
      const saved: bigint[] = [];
      const heard = createHeardMarks({
        adapter: { idAt: () => "1000000" } as never,
        clock: { ...systemClock, sleep: () => new Promise<void>(() => {}) },
        server: {
          moveMarks: async ({ marks }: { marks: { heard_id: string }[] }) => {
            saved.push(...marks.map(({ heard_id }) => BigInt(heard_id)));
            return { ok: true, value: null };
          },
        } as never,
        signal: new AbortController().signal,
        log: silentLog,
      });
      const open: { id: bigint; end: () => Promise<void> }[] = [];
      const unsettled = new Set<bigint>();
      let missed_from: bigint | null = 1n;
      let next = 1n;
      for (const one of happenings) {
        if (one.kind === "said") {
          const id = next;
          next += 1n;
          unsettled.add(id);
          const { promise, resolve } = Promise.withResolvers<boolean>();
          const over = heard.settle({ channel_id: "c", message_id: String(id) }, () => promise);
          const end = (): Promise<void> => {
            if (one.settles) unsettled.delete(id);
            resolve(one.settles);
            return over;
          };
          open.splice(Number(id) % (open.length + 1), 0, { id, end });
        } else if (one.kind === "over") await open.shift()?.end();
        else if (one.kind === "interrupted") {
          heard.interrupted();
          missed_from ??= next;
          // Said while nobody listened.
          next += 1n;
        } else {
          heard.reading("c").read(String(next - 1n));
          missed_from = null;
        }
        await heard.save();
        const mark = saved.at(-1) ?? 0n;
        for (const id of unsettled) expect(mark).toBeLessThan(id);
        if (missed_from !== null) expect(mark).toBeLessThan(missed_from);
      }
    }),
    { numRuns: 200 },
  );
});
