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
  /** Told of each case as it is over. */
  tell: (line: string) => void;
}

export interface MatrixResult {
  cases: number;
  /** Cases whose point was not passed so often in their run. */
  not_reached: number;
  points: ReadonlySet<string>;
  failures: string[];
}

/** Kills a process at each point of each scenario, and says what came of it. */
export async function runMatrix({
  scenarios,
  pick = (all) => all,
  budget_ms = Infinity,
  tell,
}: MatrixOptions): Promise<MatrixResult> {
  const result = { cases: 0, not_reached: 0, points: new Set<string>(), failures: [] as string[] };
  const references = new Map<CrashScenario, Ending>();
  const all: CrashCase[] = [];
  let rig = await startCrashRig();
  try {
    for (const scenario of scenarios) {
      const { passed, ending } = await rig.reference(scenario);
      references.set(scenario, ending);
      all.push(...deathsOf(passed).map((death) => ({ scenario, death })));
      for (const point of passed) result.points.add(point);
    }
    let runs = scenarios.length;
    const end = performance.now() + budget_ms;
    for (const one of pick(all)) {
      if (performance.now() > end) break;
      if (runs >= RUNS_PER_PRODUCT) {
        await finish(rig, result);
        rig = await startCrashRig();
        runs = 0;
      }
      const is_right = await runCase(rig, one, references, result, tell);
      runs = is_right ? runs + 1 : RUNS_PER_PRODUCT;
    }
    await finish(rig, result);
  } catch (error) {
    await rig.close();
    throw error;
  }
  return result;
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

async function runCase(
  rig: CrashRig,
  { scenario, death }: CrashCase,
  references: ReadonlyMap<CrashScenario, Ending>,
  result: MatrixResult,
  tell: (line: string) => void,
): Promise<boolean> {
  const reference = references.get(scenario);
  if (reference === undefined) throw new Error(`There is no reference for ${scenario.name}.`);
  const began = performance.now();
  const { died, problems } = await rig.run(scenario, death, reference);
  const name = `${scenario.name}: ${death.point} ${death.passing}`;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  result.cases += 1;
  if (!died) result.not_reached += 1;
  tell(`${problems.length > 0 ? "FAILED" : died ? "ok" : "not reached"} ${name} (${seconds} s)`);
  if (problems.length > 0) {
    tell(problems.join("\n"));
    result.failures.push(`${name}\n${problems.join("\n")}\n${rig.product.log().split("\n").slice(-40).join("\n")}`);
  }
  return problems.length === 0;
}

async function finish(rig: CrashRig, result: MatrixResult): Promise<void> {
  result.failures.push(...(await rig.lateProblems()));
  await rig.close();
}

/** So many of the cases, the same for the same seed; over time each seed brings others. */
export function sampleOf(cases: readonly CrashCase[], count: number, seed: number): CrashCase[] {
  let state = seed >>> 0;
  // Any cheap generator does: its one task is to choose others for another seed.
  const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  return cases
    .map((one) => ({ one, place: random() }))
    .toSorted((left, right) => left.place - right.place)
    .slice(0, count)
    .map(({ one }) => one);
}
