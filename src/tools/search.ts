import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { textArgument } from "../lib/arguments.ts";
import { cut } from "../lib/cut.ts";
import type { SpawnResult } from "../lib/spawn.ts";
import { visibleLine } from "../lib/visible.ts";
import { describePath, isWithin, stillLeadsTo } from "../lib/workspace.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { NOISE, searchEngines, type SearchEngine, type SearchOrder } from "./search_engine.ts";
import { SearchResults } from "./search_results.ts";

export interface SearchOptions {
  /** Scrubbed of secrets. */
  env: Readonly<Record<string, string>>;
  /** Folders and files whose contents no search may show: the server's own. */
  hidden_paths: readonly string[];
  /** Instead of those of this machine. */
  engines?: readonly SearchEngine[];
}

/** Not files: reading them shows secrets of processes, or never ends. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev"];
const QUERY_CHARACTERS_MAX = 10_000;
const HEADER_CHARACTERS_MAX = 200;
/** Left free below the result's limit for the count. */
const COUNT_CHARACTERS = 400;

interface SearchPlan {
  query: string;
  /** As it was asked for: what it leads to is looked at once more before the search. */
  path: string;
  /** What a person sees; the workspace itself is `.`. */
  shown: string;
  real_path: string;
}

/** Searches the contents of files for a regular expression. */
export function createSearch(options: SearchOptions): Tool {
  return { name: "search", prepare, execute: (plan, context) => execute(asPlan(plan), context, options) };
}

function prepare(args: JsonObject, context: PrepareContext): Preparation {
  const query = textArgument(args, "query");
  if (!query.ok) return query;
  const path = args["path"] === undefined ? { ok: true as const, value: "." } : textArgument(args, "path");
  if (!path.ok) return path;
  if (query.value === "") return { ok: false, error: "query is empty. Give a regular expression." };
  if (/[\0\n]/.test(query.value)) {
    return { ok: false, error: "query must be one line. Search for one of its lines, or use \\s+ between words." };
  }
  if (query.value.length > QUERY_CHARACTERS_MAX) return { ok: false, error: "query is longer than 10,000 characters." };
  const wanted = path.value === "" ? "." : path.value;
  const resolution = context.workspace.resolve(wanted);
  if (!resolution.ok) return resolution;
  const { shown, real_path, inside } = resolution.path;
  const stat = statSync(real_path, { throwIfNoEntry: false });
  if (stat === undefined) {
    return { ok: false, error: `${shown} does not exist. Search in a folder that does, or leave path out.` };
  }
  if (!stat.isDirectory() && !stat.isFile()) return { ok: false, error: `${shown} is neither a file nor a folder.` };
  if (SYSTEM_FOLDERS.some((folder) => isWithin(real_path, folder))) {
    return { ok: false, error: `${shown} holds no files but views of the system. Use bash to look at one.` };
  }
  const place =
    inside && real_path === context.workspace.root ? "" : ` in ${describePath(resolution.path, context.workspace)}`;
  const header = visibleLine(`search: ${query.value}`).slice(0, HEADER_CHARACTERS_MAX).toWellFormed();
  return {
    ok: true,
    plan: { query: query.value, path: wanted, shown, real_path },
    header: header + visibleLine(place),
    preview: "",
    needs_approval: !inside,
    effect: "none",
    subject: inside ? shown : real_path,
    ...(inside ? {} : { approval_label: "search_outside", notes: ["This is outside the workspace."] }),
  };
}

function asPlan(plan: JsonValue): SearchPlan {
  const { query, path, shown, real_path } = isJsonObject(plan) ? plan : {};
  if (typeof query !== "string" || typeof shown !== "string" || typeof real_path !== "string") {
    throw new Error("This is not a plan of search.");
  }
  // Plans of before an upgrade have none.
  return { query, path: typeof path === "string" ? path : real_path, shown, real_path };
}

async function execute(plan: SearchPlan, context: ToolContext, options: SearchOptions): Promise<ToolOutput> {
  const stat = statSync(plan.real_path, { throwIfNoEntry: false });
  if (stat === undefined) return failure(`${plan.shown} does not exist any more.`);
  if (!stillLeadsTo(context.workspace, plan.path, plan.real_path)) {
    return failure(`${plan.shown} leads somewhere else now than when this was prepared. Search again.`);
  }
  const folder = stat.isDirectory() ? plan.real_path : dirname(plan.real_path);
  const order: SearchOrder = {
    query: plan.query,
    target: stat.isDirectory() ? "./" : `./${basename(plan.real_path)}`,
    everything: relative(context.workspace.root, plan.real_path)
      .split("/")
      .some((name) => NOISE.includes(name)),
    excluded: excludedBelow(folder, context.workspace.root, options.hidden_paths),
  };
  const results = new SearchResults();
  const result = await run(order, folder, results, context, options);
  results.end();
  const shown_folder = stat.isDirectory() ? plan.shown : dirname(plan.shown);
  return outputOf(result, results, shown_folder, context);
}

/** The workspace may lie in a hidden folder: it is what is searched, then. */
function excludedBelow(folder: string, workspace: string, hidden_paths: readonly string[]): string[] {
  return [...hidden_paths, ...SYSTEM_FOLDERS]
    .flatMap((path) => {
      try {
        return [realpathSync(path)];
      } catch {
        return [];
      }
    })
    .filter((path) => path !== folder && isWithin(path, folder) && !isWithin(workspace, path))
    .map((path) => `./${relative(folder, path)}`);
}

async function run(
  order: SearchOrder,
  cwd: string,
  results: SearchResults,
  context: ToolContext,
  options: SearchOptions,
): Promise<SpawnResult> {
  const { signal, timeout_s, spawner } = context;
  let result: SpawnResult = {
    status: "not_started",
    error: "There is no program to search with. Install ripgrep or grep.",
  };
  for (const engine of options.engines ?? (await searchEngines())) {
    result = await spawner.run({
      file: engine.file,
      args: engine.args(order),
      cwd,
      env: options.env,
      timeout_ms: timeout_s * 1000,
      signal,
      onOutput: (bytes) => results.write(bytes),
    });
    if (result.status !== "not_started") return result;
  }
  return result;
}

function outputOf(result: SpawnResult, results: SearchResults, folder: string, context: ToolContext): ToolOutput {
  if (result.status === "not_started") return failure(result.error);
  const faulty = result.status === "exited" && result.exit_code !== 0 && result.exit_code !== 1;
  if (faulty && results.matches === 0 && results.message !== "") return failure(results.message.replaceAll("./", ""));
  const notes = [countOf(results), ...endOf(result, context.timeout_s, faulty)];
  if (results.matches === 0) {
    notes.push("Binary files, .git, node_modules and what .gitignore names were not searched.");
  }
  const text = results.text((path) => join(folder, path));
  const body = cut(text, Math.max(0, context.output_limit - COUNT_CHARACTERS), "Narrow the pattern or the path.");
  return {
    output: `${body}${body === "" ? "" : "\n"}[${notes.join(" ")}]`,
    is_error: result.status === "timed_out",
    effect: "none",
    display: countOf(results),
  };
}

function countOf(results: SearchResults): string {
  if (results.matches === 0) return "No matches.";
  const count = (value: number, one: string, many: string): string =>
    `${value.toLocaleString("en-US")} ${value === 1 ? one : many}`;
  const lines = count(results.matches, "matching line", "matching lines");
  const found = `${lines} in ${count(results.files, "file", "files")}.`;
  const clipped = results.clipped_files;
  return clipped === 0
    ? found
    : `${found} Of ${count(clipped, "file", "files")} only the first 200 matching lines were taken.`;
}

function endOf(result: SpawnResult, timeout_s: number, faulty: boolean): string[] {
  if (result.status === "timed_out") {
    return [`The search was stopped after ${timeout_s} s, so there may be more. Narrow the path.`];
  }
  if (result.status === "aborted") return ["The search was cancelled by the user, so there may be more."];
  return faulty ? ["Some files could not be read."] : [];
}

function failure(output: string): ToolOutput {
  return { output, is_error: true, effect: "none" };
}
