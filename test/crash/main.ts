import { CRASH_SCENARIOS } from "../support/crash_scenarios.ts";
import { runMatrix, sampleOf } from "./matrix.ts";

/*
 * The whole matrix: `npm run crash`, or some of it: `npm run crash -- approval,plan '^journal' 50 7`: the scenarios,
 * a pattern for the names of the points, how many deaths, and the seed that chooses them.
 */
const [wanted = "", part = "", count = "Infinity", seed = "1"] = process.argv.slice(2);
const names = wanted.split(",").filter(Boolean);
const scenarios = CRASH_SCENARIOS.filter(({ name }) => names.length === 0 || names.includes(name));
const result = await runMatrix({
  scenarios,
  pick(all) {
    const matching = all.filter(({ death }) => new RegExp(part).test(death.point));
    return count === "Infinity" ? matching : sampleOf(matching, Number(count), Number(seed));
  },
  tell: (line) => process.stdout.write(`${line}\n`),
});
for (const failure of result.failures) process.stdout.write(`\n${failure}\n`);
process.stdout.write(`${result.cases} deaths, ${result.not_reached} not reached, ${result.failures.length} failures\n`);
process.exitCode = result.failures.length === 0 ? 0 : 1;
