import { parseArgs } from "node:util";
import { CRASH_SCENARIOS } from "../support/crash_scenarios.ts";
import { runMatrix, sampleOf, type CrashCase, type MatrixResult } from "./matrix.ts";
import { playRounds } from "./rounds.ts";

/*
 * The whole matrix: `npm run crash`, or some of it: `npm run crash -- approval,plan '^journal' 50 7`: the scenarios,
 * a pattern for the names of the points (or for a name and its passing, as `'^journal.assistant.before 2$'`), how many
 * deaths, and the seed that chooses them.
 *
 * In rounds: `npm run crash -- --rounds 20`, of some scenarios and points as above. A round plays each point of each
 * scenario once, at one of its passings, which `--seed 7` chooses, another for each round; it ends with the first
 * failure. `--jobs 2` plays on two products side by side, in either way.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    seed: { type: "string" },
    jobs: { type: "string", default: "1" },
  },
});
const [wanted = "", part = "", count = "Infinity"] = positionals;
const seed = Number(values.seed ?? positionals[3] ?? "1");
const jobs = Number(values.jobs);
const names = wanted.split(",").filter(Boolean);
const scenarios = CRASH_SCENARIOS.filter(({ name }) => names.length === 0 || names.includes(name));
const pattern = new RegExp(part);
const matching = (all: readonly CrashCase[]): CrashCase[] =>
  all.filter(({ death }) => pattern.test(death.point) || pattern.test(`${death.point} ${death.passing}`));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const is_right =
  values.rounds === undefined
    ? tellOf(await playMatrix())
    : await playRounds({ rounds: Number(values.rounds), scenarios, matching, seed, jobs, print });
process.exitCode = is_right ? 0 : 1;

function playMatrix(): Promise<MatrixResult> {
  return runMatrix({
    scenarios,
    pick: (all) => (count === "Infinity" ? matching(all) : sampleOf(matching(all), Number(count), seed)),
    jobs,
    tell: print,
  });
}

function tellOf(result: MatrixResult): boolean {
  for (const failure of result.failures) print(`\n${failure}`);
  print(`${result.cases} deaths, ${result.not_reached} not reached, ${result.failures.length} failures`);
  return result.failures.length === 0;
}
