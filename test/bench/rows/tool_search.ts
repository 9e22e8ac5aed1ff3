import { ToolIndex } from "../../../src/catalog/ranking.ts";
import { has_tool_search_data, manyTools, publicTasks } from "../../support/tool_search_data.ts";
import { median, type Row } from "../measure.ts";

const SERVERS = 100;
const SAMPLES = 25;
const QUERY = "get the latest data of a word17 from the list of word204 and save it";

/** Milliseconds for a search over 5,000 tools and a change of 50, and the share of tools that may be missed. */
const BARS = { query_ms: 10, update_ms: 20, missed: 0.2 };

/** Searching among many tools; what is found of real tasks only where their data is at hand. */
export async function toolSearchRows(): Promise<Row[]> {
  const index = new ToolIndex();
  for (let server = 0; server < SERVERS; server += 1) index.setServer(`s${server}`, manyTools(`s${server}`));
  const timeOf = (run: () => unknown): number =>
    median(
      Array.from({ length: SAMPLES }, () => {
        const from = performance.now();
        run();
        return performance.now() - from;
      }),
    );
  const query_ms = timeOf(() => index.search(QUERY));
  const update_ms = timeOf(() => index.setServer("s7", manyTools("s7")));
  const times: Row[] = [
    { name: "search among 5,000 tools", unit: "ms", floor: BARS.query_ms, turnstone: query_ms, bar: 1 },
    { name: "change 50 of 5,000 tools", unit: "ms", floor: BARS.update_ms, turnstone: update_ms, bar: 1 },
  ];
  if (!has_tool_search_data) return times;
  const { tasks, recall } = publicTasks();
  const missed = [3, 5, 10].map((count): Row => ({
    name: `tools of real tasks missed among the first ${count} (1 - recall@${count})`,
    unit: "",
    floor: BARS.missed,
    turnstone: 1 - recall(tasks, count),
    bar: count === 5 ? 1 : null,
  }));
  return [...times, ...missed];
}
