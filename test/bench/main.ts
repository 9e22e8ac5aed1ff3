import { printRows, type Row } from "./measure.ts";
import { discordRows } from "./rows/discord.ts";
import { latencyRows, measureLatencies } from "./rows/latency.ts";
import { loadRows, measureLoads } from "./rows/load.ts";
import { modelRows } from "./rows/models.ts";
import { storeRows } from "./rows/store.ts";
import { toolSearchRows } from "./rows/tool_search.ts";
import { toolRows } from "./rows/tools.ts";
import { startModel, startSubject, type BenchModel, type Subject } from "./subject.ts";

/*
 * `npm run bench` prints every figure beside its floor of the same run; `npm run bench -- load discord` some of them.
 * The exit code is 1 when a bar is missed.
 */

/** Runs of each subject, in turn, so that a drift of the machine meets both. */
const RUNS = Number(process.env["BENCH_RUNS"] ?? 5);

const PARTS: Readonly<Record<string, () => Promise<Row[]>>> = {
  latency: async () => latencyRows(...(await ofBoth(measureLatencies))),
  load: async () => loadRows(...(await ofBoth(measureLoads))),
  models: modelRows,
  discord: discordRows,
  store: storeRows,
  tools: toolRows,
  tool_search: toolSearchRows,
};

/** What each run showed of the floor, and of turnstone. */
async function ofBoth<Figures>(
  measure: (subject: Subject, model: BenchModel) => Promise<Figures>,
): Promise<[Figures[], Figures[]]> {
  const model = await startModel();
  const figures = { floor: [] as Figures[], turnstone: [] as Figures[] };
  for (let run = 0; run < RUNS; run += 1) {
    for (const name of ["floor", "turnstone"] as const) {
      const subject = await startSubject(name, model);
      figures[name].push(await measure(subject, model));
      await subject.stop();
    }
  }
  model.stop();
  return [figures.floor, figures.turnstone];
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  process.stderr.write(`There is no ${unknown.join(", ")} to measure; there are ${Object.keys(PARTS).join(", ")}.\n`);
  process.exit(1);
}
const rows: Row[] = [];
for (const [name, measure] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring ${name}\n`);
  rows.push(...(await measure()));
}
process.exitCode = printRows(rows) ? 0 : 1;
