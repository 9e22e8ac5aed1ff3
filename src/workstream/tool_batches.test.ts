import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startEngine } from "../../test/support/engine_rig.ts";
import { calls, says } from "../../test/support/scripted_provider.ts";
import { editFileTool } from "../tools/edit_file.ts";
import { readFileTool } from "../tools/read_file.ts";
import { webSearchTool } from "../tools/web_search.ts";
import { builtIn, castProvider } from "./testing/cast.ts";

const rigs: { close(): Promise<void> }[] = [];
const search = { tavily_key: "tvly-test", tavily_url: "http://127.0.0.1:9" };
const tools = [builtIn(readFileTool()), builtIn(editFileTool()), builtIn(webSearchTool(search))];

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

/** Plays one batch with what the workspace holds; answers the results, and where the workspace is. */
async function playBatch(batch: Parameters<typeof calls>, files: Record<string, string> = {}) {
  const rig = await startEngine({ tools, provider: castProvider({ go: [calls(...batch), says("Done.")] }) });
  rigs.push(rig);
  const ws = await rig.open({ auto_approve_tools: ["edit_file"] });
  const workspace = join(rig.folder, "workspaces", ws.ws_id);
  mkdirSync(workspace, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
  await ws.say("go");
  return { ws, workspace, results: () => ws.kept().flatMap((event) => (event.type === "tool_result" ? [event] : [])) };
}

const READ = { id: "read", name: "read_file", arguments: { path: "a" } };
const EDIT = { id: "edit", name: "edit_file", arguments: { path: "a", old_string: "one", new_string: "two" } };

test.each([
  ["first", [READ, EDIT]],
  ["last", [EDIT, READ]],
])("a file that is read in the same batch, the reading %s, is not edited unseen (FILE-25)", async (_order, batch) => {
  const { ws, workspace, results } = await playBatch(batch, { a: "one\n" });
  await ws.until(() => results().length === 2);
  const edit = results().find(({ name }) => name === "edit_file");
  expect(edit).toMatchObject({ is_error: true, output: expect.stringContaining("Read it with read_file first") });
  expect(results().find(({ name }) => name === "read_file")).toMatchObject({ is_error: false });
  expect(readFileSync(join(workspace, "a"), "utf8")).toBe("one\n");
});

test("of a file that cannot be read no edit happens, though both are asked at once (FILE-25)", async () => {
  const { ws, results } = await playBatch([READ, EDIT]);
  await ws.until(() => results().length === 2);
  expect(results().map(({ is_error }) => is_error)).toEqual([true, true]);
});

test.each([
  [{ max_results: "50", topic: "rumours" }, "Up to 20 results (topic: general)"],
  [{ max_results: -1 }, "Up to 1 result (topic: general)"],
  [{ max_results: 0, topic: "News" }, "Up to 1 result (topic: news)"],
])("a model's %o is held to what there is, before anybody is asked (WEB-24)", async (bounds, preview) => {
  const { ws } = await playBatch([{ id: "s", name: "web_search", arguments: { query: "tides", ...bounds } }]);
  await ws.until(() => ws.kept().some(({ type }) => type === "approve_request"));
  expect(JSON.stringify(ws.one("approve_request"))).toContain(preview);
});

test("a count that is none is an error that names it (WEB-24)", async () => {
  const { ws, results } = await playBatch([
    { id: "s", name: "web_search", arguments: { query: "tides", max_results: "x" } },
  ]);
  await ws.until(() => results().length === 1);
  expect(results()[0]).toMatchObject({ is_error: true, output: expect.stringContaining("max_results") });
});
