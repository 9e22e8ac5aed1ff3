import { CRASH_SCENARIOS } from "../support/crash_scenarios.ts";
import { runMatrix } from "./matrix.ts";

/*
 * The whole matrix: `npm run crash`, or some of it: `npm run crash -- approval,plan '^journal'`, where the second word is a pattern for
 * the names of the points.
 */
const [wanted = "", part = ""] = process.argv.slice(2);
const names = wanted.split(",").filter(Boolean);
const scenarios = CRASH_SCENARIOS.filter(({ name }) => names.length === 0 || names.includes(name));
const result = await runMatrix({
  scenarios,
  pick: (all) => all.filter(({ death }) => new RegExp(part).test(death.point)),
  tell: (line) => process.stdout.write(`${line}\n`),
});
for (const failure of result.failures) process.stdout.write(`\n${failure}\n`);
process.stdout.write(`${result.cases} deaths, ${result.not_reached} not reached, ${result.failures.length} failures\n`);
process.exitCode = result.failures.length === 0 ? 0 : 1;
