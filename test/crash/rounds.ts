import type { CrashScenario } from "../support/crash_scenarios.ts";
import { roundOf, runMatrix, type CrashCase } from "./matrix.ts";

export interface RoundsOptions {
  rounds: number;
  scenarios: readonly CrashScenario[];
  /** The cases that a round chooses from. */
  matching: (all: readonly CrashCase[]) => readonly CrashCase[];
  /** Of the first round; each further one has the next number. */
  seed: number;
  jobs: number;
  print: (line: string) => void;
}

/** Plays rounds, each told in one line, until one fails; says then how to repeat it. Answers whether all went right. */
export async function playRounds({ rounds, scenarios, matching, seed, jobs, print }: RoundsOptions): Promise<boolean> {
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const result = await runMatrix({
      scenarios,
      pick: (all) => roundOf(matching(all), seed + round),
      jobs,
      stops_at_failure: true,
      tell: () => {},
    });
    const seconds = Math.round((performance.now() - began) / 1000);
    const each = ((seconds * jobs) / Math.max(1, result.cases)).toFixed(1);
    print(
      `round ${round + 1} of ${rounds}, seed ${seed + round}: ${result.cases} deaths in ${seconds} s (${each} s each), ` +
        `${result.not_reached} not reached, ${result.failures.length} failures`,
    );
    if (result.failures.length === 0) continue;
    for (const failure of result.failures) print(`\n${failure}`);
    print("\nTo repeat it:");
    for (const { scenario, death } of result.failed) {
      const point = death.point.replace(/[.+*?^$()[\]{}|\\]/g, "\\$&");
      print(`  npm run crash -- ${scenario.name} '^${point} ${death.passing}$'`);
    }
    print(`  npm run crash -- --rounds 1 --seed ${seed + round} --jobs ${jobs}`);
    return false;
  }
  return true;
}
