import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workstreamIdFor } from "../../gateway/inbound/conversation.ts";
import { GENEROUS_RATE_LIMITS } from "../../gateway/practice/index.ts";
import { endingOf, problemsOf, type Ending } from "./crash_ending.ts";
import { play } from "./crash_people.ts";
import type { CrashRun } from "./crash_run.ts";
import { CRASH_SCENARIOS, type CrashScenario } from "./crash_scenarios.ts";
import { reply } from "./model_server/reply.ts";
import { startProduct, type Product } from "./product.ts";

/** A death: the point at which a process is killed, and at which of its passings. */
export interface Death {
  point: string;
  passing: number;
}

/** What came of a run. */
export interface CrashResult {
  /** False: the point was not passed so often this time. */
  died: boolean;
  /** In words; empty when all is as it must be. */
  problems: string[];
}

/** How long a run may take before it counts as stuck: deaths cost seconds of waiting, and the machine may be busy. */
const PATIENCE_MS = 45_000;
/** The same where processes die all the time and many runs share them. */
const ENDURANCE_MS = 240_000;
/** A press that nobody answers fails after this long. */
const ACK_DEADLINE_MS = 1500;
/** Each look asks the server, which has better things to do. */
const LOOK_MS = 100;
/** What a process still does after all is shown: saving, moving cursors, answering. */
const LAST_POINTS_MS = 1000;
/** An uninterrupted run that has not changed for so long is over. */
const RESTS_AFTER_MS = 500;

/** Comes by the clock and not by what people do. */
const HEARTBEAT = /^answer_POST_\/v1\/api\/services\./;

/** Points with these beginnings are the gateway's; all others are the server's. */
const OF_GATEWAY = /^(discord|server)\./;

export interface CrashRig {
  product: Product;
  /** The points that an uninterrupted run passes, in order, and how it ends. */
  reference(scenario: CrashScenario): Promise<{ passed: string[]; ending: Ending }>;
  /** Plays a scenario in which a process dies, and judges how it ends by the uninterrupted run. */
  run(scenario: CrashScenario, death: Death, reference: Ending): Promise<CrashResult>;
  /** Plays a scenario while others pull plugs as they like, and judges how it ends. Answers problems in words. */
  endure(scenario: CrashScenario, reference: Ending): Promise<string[]>;
  /** Whether all runs so far still stand as they ended: nothing comes late, nothing twice. */
  lateProblems(): Promise<string[]>;
  close(): Promise<void>;
}

/** Real processes whose plug can be pulled at named points. */
export async function startCrashRig(): Promise<CrashRig> {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-crash-"));
  const orders = join(folder, "orders");
  const product = await startProduct({
    config: '[[approval.rules]]\ntool = "bash"\nusers = ["ben"]\naction = "allow"\n',
    // Each death is followed by a start, and compiling is the most of it.
    env: { TURNSTONE_CRASH_POINTS: orders, NODE_COMPILE_CACHE: join(tmpdir(), "turnstone-crash-compiled") },
    practice: { rate_limits: GENEROUS_RATE_LIMITS, ack_deadline_ms: ACK_DEADLINE_MS },
  });
  const ended: { run: CrashRun; ending: Ending; reference: Ending }[] = [];
  let count = 0;
  const begin = (scenario: CrashScenario): CrashRun => beginRun(product, scenario, (count += 1));
  product.model.script((request) => {
    const [key = "", name] = /\bcase-(\w+)-\w+\b/.exec(request.first_user_text) ?? [];
    const scenario = CRASH_SCENARIOS.find((one) => one.name === name);
    return scenario === undefined ? reply.status(400) : scenario.answer(request, key);
  });
  return {
    product,
    async reference(scenario) {
      writeFileSync(`${orders}.passed`, "");
      const run = begin(scenario);
      const problems = await settle(product, run, untilItRests(run));
      const ending = await endingOf(product, run);
      if (problems.length > 0) {
        const words = [...problems, JSON.stringify(ending), product.log()].join("\n");
        throw new Error(`The uninterrupted run of ${scenario.name} fails: ${words}`);
      }
      ended.push({ run, ending, reference: ending });
      const passed = readFileSync(`${orders}.passed`, "utf8").split("\n").filter(Boolean);
      return { passed: passed.filter((name) => !HEARTBEAT.test(name)), ending };
    },
    async run(scenario, death, reference) {
      const victim = victimOf(product, death);
      writeFileSync(orders, `${death.point} ${death.passing} ${count}`);
      const run = begin(scenario);
      const isRight = (ending: Ending): string[] => problemsOf(run, ending, reference);
      let problems = await settle(product, run, isRight);
      // Who is to die after all has been shown may need another moment for it.
      await Promise.race([victim.dead, pause(LAST_POINTS_MS)]);
      rmSync(orders, { force: true });
      const died = await victim.revived();
      if (died) problems = await settle(product, run, isRight);
      ended.push({ run, ending: await endingOf(product, run), reference });
      return { died, problems: [...problems, ...product.model.problems] };
    },
    async endure(scenario, reference) {
      const run = begin(scenario);
      let last: Ending | null = null;
      const judge = (ending: Ending): string[] => problemsOf(run, (last = ending), reference);
      const problems = await settle(product, run, judge, ENDURANCE_MS);
      // Asking again might meet a server that has just died.
      if (last !== null) ended.push({ run, ending: last, reference });
      return problems;
    },
    async lateProblems() {
      const found: string[] = [];
      // One after the other: a long run has hundreds of them, and this is no load test.
      for (const one of ended) found.push(...(await lateProblems(product, one)));
      return found;
    },
    async close() {
      await product.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Somebody says the first message of a scenario. */
function beginRun({ practice }: Product, scenario: CrashScenario, count: number): CrashRun {
  const key = `case-${scenario.name}-${"abcdefghij"[count % 10]}${count}`;
  const opening = `<@${practice.bot_id}> ${scenario.opening(key)}`;
  const { id } = practice.as(scenario.speaker).say("general", opening);
  return { scenario, key, thread: id, ws_id: workstreamIdFor("discord", id) };
}

/** Plays the people until nothing is wrong any more, or for as long as patience lasts; answers what is still wrong. */
async function settle(
  product: Product,
  run: CrashRun,
  isRight: (ending: Ending) => string[],
  patience_ms = PATIENCE_MS,
): Promise<string[]> {
  const deadline = performance.now() + patience_ms;
  const people = new AbortController();
  const playing = play(product, run, people.signal);
  let problems = ["It never began."];
  while (problems.length > 0 && performance.now() < deadline) {
    await pause();
    problems = await endingOf(product, run).then(isRight, (error: unknown) => [String(error)]);
  }
  people.abort();
  await playing;
  return problems;
}

/** Takes an ending for one when nothing of it has changed for a while. */
function untilItRests(run: CrashRun): (ending: Ending) => string[] {
  let last = "";
  let same_since = 0;
  return (ending) => {
    const text = JSON.stringify(ending);
    if (text !== last) same_since = performance.now();
    last = text;
    const rests = ending.is_over && performance.now() - same_since > RESTS_AFTER_MS;
    return rests ? problemsOf(run, ending, null) : ["It is not over yet."];
  };
}

/** An ending may still get its figures and a folded card, and nothing else. */
async function lateProblems(
  product: Product,
  { run, ending, reference }: { run: CrashRun; ending: Ending; reference: Ending },
): Promise<string[]> {
  const deadline = performance.now() + PATIENCE_MS;
  let now: Ending | string = "not tried";
  while (typeof now === "string" && performance.now() < deadline) {
    now = await endingOf(product, run).catch((error: unknown) => String(error));
    // So many questions in a row may be more than the server lets one person ask.
    if (typeof now === "string") await pause();
  }
  if (typeof now === "string") return [`${run.key} cannot be read: ${now}`];
  const problems = problemsOf(run, now, reference);
  if (JSON.stringify(now.effects) !== JSON.stringify(ending.effects)) {
    problems.push(`Effects came late: ${JSON.stringify(now.effects)} after ${JSON.stringify(ending.effects)}`);
  }
  return problems.map((problem) => `${run.key}, looked at again: ${problem}`);
}

/** The process in which a point lies. It is started again as soon as it dies, until `revived` is asked for. */
function victimOf(product: Product, death: Death): { dead: Promise<unknown>; revived: () => Promise<boolean> } {
  const is_gateway = OF_GATEWAY.test(death.point);
  let watched = true;
  let revival: Promise<void> | null = null;
  const watch = async (): Promise<void> => {
    await (is_gateway ? product.gatewayEnded() : product.serverEnded());
    if (watched) revival = is_gateway ? product.startGateway() : product.startServer();
  };
  const dead = watch();
  return {
    dead,
    async revived() {
      watched = false;
      await revival;
      return revival !== null;
    },
  };
}

function pause(milliseconds = LOOK_MS): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
