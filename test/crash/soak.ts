import { startCrashRig, type CrashRig } from "../support/crash_rig.ts";
import { CRASH_SCENARIOS } from "../support/crash_scenarios.ts";
import type { Ending } from "../support/crash_ending.ts";

/*
 * `npm run soak -- [minutes] [threads]`: threads that are never at rest, and both processes killed at random every few
 * seconds. At the end each message is answered once, each effect is there once, and no button is dead. Exit code 1
 * otherwise.
 */
const MINUTES = Number(process.argv[2] ?? 10);
const THREADS = Number(process.argv[3] ?? 20);

/** Between two deaths. */
const PAUSE_MS_MIN = 2000;
const PAUSE_MS_MAX = 7000;
/** A person takes a breath before the next conversation. */
const BREATH_MS = 1000;

const rig = await startCrashRig();
const references = new Map<string, Ending>();
for (const scenario of CRASH_SCENARIOS) references.set(scenario.name, (await rig.reference(scenario)).ending);

const ends_at = performance.now() + MINUTES * 60_000;
const over = new AbortController();
const deaths = pullPlugs(rig, over.signal);
const talks = await Promise.all(Array.from({ length: THREADS }, (_value, thread) => keepTalking(rig, thread)));
over.abort();
const killed = await deaths;
const problems = [
  ...talks.flatMap((talk) => talk.problems),
  ...(await rig.lateProblems()),
  ...rig.product.model.problems,
];
const count = talks.reduce((sum, talk) => sum + talk.count, 0);
for (const problem of problems) print(`\n${problem}`);
print(`${count} conversations, ${killed} deaths, ${problems.length} problems`);
if (problems.length > 0) print(rig.product.log().split("\n").slice(-200).join("\n"));
await rig.close();
process.exitCode = problems.length === 0 ? 0 : 1;

/** One scenario after the other until the time is over; what has begun is brought to its end. */
async function keepTalking({ endure }: CrashRig, thread: number): Promise<{ count: number; problems: string[] }> {
  const found: string[] = [];
  let played = 0;
  for (; performance.now() < ends_at; played += 1) {
    const scenario = CRASH_SCENARIOS[(thread + played) % CRASH_SCENARIOS.length];
    const reference = references.get(scenario?.name ?? "");
    if (scenario === undefined || reference === undefined) throw new Error("Each scenario has a reference.");
    const wrong = await endure(scenario, reference);
    print(`${wrong.length === 0 ? "ok" : "FAILED"} ${scenario.name} in thread ${thread}`);
    found.push(...wrong.map((problem) => `${scenario.name} in thread ${thread}: ${problem}`));
    await pause(BREATH_MS);
  }
  return { count: played, problems: found };
}

/** Kills one of the processes every few seconds and starts it again; answers how often. */
async function pullPlugs({ product }: CrashRig, signal: AbortSignal): Promise<number> {
  let count = 0;
  while (!signal.aborted) {
    await pause(PAUSE_MS_MIN + Math.random() * (PAUSE_MS_MAX - PAUSE_MS_MIN));
    if (performance.now() > ends_at) break;
    if (Math.random() < 0.5) {
      await product.killServer();
      await product.startServer();
    } else {
      await product.killGateway();
      await product.startGateway();
    }
    count += 1;
  }
  return count;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
