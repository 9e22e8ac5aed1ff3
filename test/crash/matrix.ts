import { startCrashRig, type CrashRig, type Death } from "../support/crash_rig.ts";
import type { Ending } from "../support/crash_ending.ts";
import type { CrashScenario } from "../support/crash_scenarios.ts";

/** One death in one scenario. */
export interface CrashCase {
  scenario: CrashScenario;
  death: Death;
}

/** Runs that share one product: its store and its channel grow with each, and so does the time that a start takes. */
const RUNS_PER_PRODUCT = 25;

export interface MatrixOptions {
  scenarios: readonly CrashScenario[];
  /** Chooses from all cases; all where absent. */
  pick?: (cases: readonly CrashCase[]) => readonly CrashCase[];
  /** No further case begins after so long; the runs without a death always take place. */
  budget_ms?: number;
  /** Products that play side by side; one where absent. */
  jobs?: number;
  /** No further case begins after a failure. */
  stops_at_failure?: boolean;
  /** Told of each case as it is over. */
  tell: (line: string) => void;
}

export interface MatrixResult {
  cases: number;
  /** Cases whose point was not passed so often in their run. */
  not_reached: number;
  points: ReadonlySet<string>;
  failures: string[];
  /** Those that failed, as far as a single one did. */
  failed: CrashCase[];
}

/** What the players of one matrix share. */
interface Matrix {
  waiting: CrashCase[];
  references: ReadonlyMap<CrashScenario, Ending>;
  result: MatrixResult;
  is_over: () => boolean;
  tell: (line: string) => void;
}

/** Kills a process at each point of each scenario, and says what came of it. */
export async function runMatrix({
  scenarios,
  pick = (all) => all,
  budget_ms = Infinity,
  jobs = 1,
  stops_at_failure = false,
  tell,
}: MatrixOptions): Promise<MatrixResult> {
  const rig = await startCrashRig();
  const references = new Map<CrashScenario, Ending>();
  const all: CrashCase[] = [];
  const points = new Set<string>();
  try {
    for (const scenario of scenarios) {
      const { passed, ending } = await rig.reference(scenario);
      references.set(scenario, ending);
      all.push(...deathsOf(passed).map((death) => ({ scenario, death })));
      for (const point of passed) points.add(point);
    }
  } catch (error) {
    await rig.close();
    throw error;
  }
  const result: MatrixResult = { cases: 0, not_reached: 0, points, failures: [], failed: [] };
  const end = performance.now() + budget_ms;
  const isOver = (): boolean => performance.now() > end || (stops_at_failure && result.failures.length > 0);
  const matrix: Matrix = { waiting: [...pick(all)], references, result, is_over: isOver, tell };
  const players = [play(matrix, rig, scenarios.length)];
  for (let player = 1; player < jobs; player += 1) {
    players.push(startCrashRig().then((other) => play(matrix, other, 0)));
  }
  const outcomes = await Promise.allSettled(players);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return result;
}

/** Plays what waits, on one product after the other. */
async function play(matrix: Matrix, first: CrashRig, runs_before: number): Promise<void> {
  let rig = first;
  let runs = runs_before;
  try {
    while (!matrix.is_over()) {
      const one = matrix.waiting.shift();
      if (one === undefined) break;
      if (runs >= RUNS_PER_PRODUCT) {
        await finish(rig, matrix.result);
        rig = await startCrashRig();
        runs = 0;
      }
      const is_right = await runCase(matrix, rig, one);
      runs = is_right ? runs + 1 : RUNS_PER_PRODUCT;
    }
    await finish(rig, matrix.result);
  } catch (error) {
    await rig.close();
    throw error;
  }
}

/** Every passing of every point. */
function deathsOf(passed: readonly string[]): Death[] {
  const passings = new Map<string, number>();
  return passed.map((point) => {
    const passing = (passings.get(point) ?? 0) + 1;
    passings.set(point, passing);
    return { point, passing };
  });
}

async function runCase({ references, result, tell }: Matrix, rig: CrashRig, one: CrashCase): Promise<boolean> {
  const { scenario, death } = one;
  const reference = references.get(scenario);
  if (reference === undefined) throw new Error(`There is no reference for ${scenario.name}.`);
  const began = performance.now();
  const { died, problems } = await rig.run(scenario, death, reference);
  const name = nameOf(one);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  result.cases += 1;
  if (!died) result.not_reached += 1;
  tell(`${problems.length > 0 ? "FAILED" : died ? "ok" : "not reached"} ${name} (${seconds} s)`);
  if (problems.length > 0) {
    tell(problems.join("\n"));
    result.failures.push(`${name}\n${problems.join("\n")}\n${rig.product.log().split("\n").slice(-40).join("\n")}`);
    result.failed.push(one);
  }
  return problems.length === 0;
}

/** As a case is told of, and chosen: the scenario, and the point with its passing. */
export function nameOf({ scenario, death }: CrashCase): string {
  return `${scenario.name}: ${death.point} ${death.passing}`;
}

async function finish(rig: CrashRig, result: MatrixResult): Promise<void> {
  result.failures.push(...(await rig.lateProblems()));
  await rig.close();
}

/** So many of the cases, the same for the same seed; over time each seed brings others. */
export function sampleOf(cases: readonly CrashCase[], count: number, seed: number): CrashCase[] {
  const random = randomFrom(seed);
  return cases
    .map((one) => ({ one, place: random() }))
    .toSorted((left, right) => left.place - right.place)
    .slice(0, count)
    .map(({ one }) => one);
}

/** Each point of each scenario once, at one of its passings, the same for the same seed. */
export function roundOf(cases: readonly CrashCase[], seed: number): CrashCase[] {
  const random = randomFrom(seed);
  const passings = new Map<string, CrashCase[]>();
  for (const one of cases) {
    const place = `${one.scenario.name}: ${one.death.point}`;
    passings.set(place, [...(passings.get(place) ?? []), one]);
  }
  return [...passings.values()].flatMap((some) => some[Math.floor(random() * some.length)] ?? []);
}

/** Any cheap generator does: its one task is to choose others for another seed. */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}
