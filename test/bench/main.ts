import { printRows, type Row } from "./measure.ts";
import { latencyRows, measureLatencies, type Latencies } from "./rows/latency.ts";
import { loadRows, measureLoads, type Loads } from "./rows/load.ts";
import { startModel, startSubject, type Subject } from "./subject.ts";

/** Runs of each subject, in turn, so that a drift of the machine meets both. */
const RUNS = Number(process.env["BENCH_RUNS"] ?? 5);

const only = process.argv[2];
const model = await startModel();
const latencies: Record<Subject["name"], Latencies[]> = { floor: [], turnstone: [] };
const loads: Record<Subject["name"], Loads[]> = { floor: [], turnstone: [] };
for (let run = 0; run < RUNS; run += 1) {
  for (const name of ["floor", "turnstone"] as const) {
    process.stderr.write(`run ${run + 1} of ${RUNS}: ${name}\n`);
    if (only !== "load") {
      const subject = await startSubject(name, model);
      latencies[name].push(await measureLatencies(subject, model));
      await subject.stop();
    }
    if (only !== "latency") {
      const subject = await startSubject(name, model);
      loads[name].push(await measureLoads(subject));
      await subject.stop();
    }
  }
}
model.stop();
const rows: Row[] = [
  ...(only === "load" ? [] : latencyRows(latencies.floor, latencies.turnstone)),
  ...(only === "latency" ? [] : loadRows(loads.floor, loads.turnstone)),
];
process.exitCode = printRows(rows) ? 0 : 1;
