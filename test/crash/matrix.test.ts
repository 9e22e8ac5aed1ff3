import { expect, test } from "vitest";
import { CRASH_SCENARIOS } from "../support/crash_scenarios.ts";
import { runMatrix, sampleOf } from "./matrix.ts";
import { listedPoints, tableNames } from "./points.ts";

/** Each death costs seconds, and there are hundreds: a sample runs here, all of them by `npm run crash`. */
const DEATHS_MAX = 12;
const BUDGET_MS = 90_000;

const DAY_MS = 86_400_000;

// REQ-CRASH-001
test("killed anywhere: each message is answered, nothing is lost, nothing is done twice (STOR-09)", async () => {
  const seed = Number(process.env["TURNSTONE_CRASH_SEED"] ?? Math.floor(Date.now() / DAY_MS));
  const lines = [`TURNSTONE_CRASH_SEED=${seed}`];
  const result = await runMatrix({
    scenarios: CRASH_SCENARIOS,
    pick: (all) => sampleOf(all, DEATHS_MAX, seed),
    budget_ms: BUDGET_MS,
    tell: (line) => lines.push(line),
  });
  process.stdout.write(`${lines.join("\n")}\n`);
  expect(result.failures).toEqual([]);
  expect(result.cases).toBeGreaterThan(0);
  expect(tableNames(result.points)).toEqual(listedPoints());
}, 300_000);
