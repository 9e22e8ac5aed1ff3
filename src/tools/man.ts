import type { Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { textArgument } from "../lib/arguments.ts";
import { Collector } from "../lib/cut.ts";
import type { SpawnResult } from "../lib/spawn.ts";
import { TerminalText } from "../lib/terminal_text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";

export interface ManOptions {
  /** Scrubbed of secrets. */
  env: Readonly<Record<string, string>>;
  /** Programs that may be asked for `--help` where there is no page. */
  help_programs?: readonly string[];
}

/** Formatting the longest page takes a second or two; more is a fault. */
const MAN_MS = 10_000;
const PAGE_CHARACTERS_MAX = 100;

/** No leading hyphen, which would be an option, and no slash, which would be a file. */
const PAGE = /^[A-Za-z0-9_.+@:[][A-Za-z0-9_.+@:[-]*$/;
const PAGE_WITH_SECTION = /^(.+?)\s*\(([^()]*)\)$/;
const SECTION = /^(?:[0-9][a-z]{0,8}|[nl])$/i;

interface ManPlan {
  page: string;
  section: string | null;
}

/** Shows pages of the manual. */
export function createMan(options: ManOptions): Tool {
  return { name: "man", prepare, execute: (plan, context) => execute(asPlan(plan), context, options) };
}

function prepare(args: JsonObject): Preparation {
  const page = textArgument(args, "page");
  if (!page.ok) return page;
  const given = args["section"] === undefined ? null : textArgument(args, "section");
  if (given !== null && !given.ok) return given;
  const [, bare, own_section] = PAGE_WITH_SECTION.exec(page.value.trim()) ?? [];
  const name = bare ?? page.value.trim();
  const section = given?.value.trim() ?? own_section ?? null;
  if (!PAGE.test(name) || name.includes("..") || name.length > PAGE_CHARACTERS_MAX) {
    return {
      ok: false,
      error: `${JSON.stringify(name.slice(0, 200))} cannot be a page's name. Give one such as grep or printf(3).`,
    };
  }
  if (section !== null && !SECTION.test(section)) {
    return {
      ok: false,
      error: `${JSON.stringify(section.slice(0, 50))} is no section. Give one such as 3 or 3pm.`,
    };
  }
  return {
    ok: true,
    plan: { page: name, section },
    header: `man: ${nameOf({ page: name, section })}`,
    preview: "",
    needs_approval: false,
    effect: "none",
    subject: nameOf({ page: name, section }),
  };
}

function nameOf({ page, section }: ManPlan): string {
  return section === null ? page : `${page}(${section})`;
}

function asPlan(plan: JsonValue): ManPlan {
  if (!isJsonObject(plan) || typeof plan["page"] !== "string") throw new Error("This is not a plan of man.");
  return { page: plan["page"], section: typeof plan["section"] === "string" ? plan["section"] : null };
}

async function execute(plan: ManPlan, context: ToolContext, options: ManOptions): Promise<ToolOutput> {
  const { page, section } = plan;
  const man = await read("man", [...(section === null ? [] : ["-s", section]), "--", page], context, options);
  if (man.text !== null) return answer(man.text);
  if (man.result.status === "aborted") return failure("Cancelled by the user.");
  if (man.result.status === "timed_out") {
    return failure(`The page ${nameOf(plan)} was not formatted within ${MAN_MS / 1000} s.`);
  }
  const info = section === null ? await read("info", ["--output=-", "--", page], context, options) : null;
  if (info !== null && info.text !== null && !/no menu item/i.test(info.text.slice(0, 500))) return answer(info.text);
  if (options.help_programs?.includes(page) === true) {
    const help = await read(page, ["--help"], context, options);
    if (help.text !== null) return answer(help.text);
  }
  if (man.result.status === "not_started") {
    return failure(
      "There is no manual on this machine: the program man is missing. Ask for it to be installed (package man-db).",
    );
  }
  return failure(
    `There is no manual page ${nameOf(plan)} on this machine.${section === null ? "" : " Try it without the section."}`,
  );
}

interface Reading {
  result: SpawnResult;
  /** Null where the program gave none. */
  text: string | null;
}

async function read(file: string, args: string[], context: ToolContext, { env }: ManOptions): Promise<Reading> {
  const text = new TerminalText();
  const collector = new Collector(context.output_limit);
  const result = await context.spawner.run({
    file,
    args,
    cwd: "/",
    env: manualEnvironment(env),
    timeout_ms: Math.min(MAN_MS, context.timeout_s * 1000),
    signal: context.signal,
    onOutput: (bytes) => collector.push(text.write(bytes)),
  });
  collector.push(text.end());
  const said = collector.text("Ask for a narrower page.");
  const good = result.status === "exited" && result.exit_code === 0 && said.trim() !== "";
  return { result, text: good ? said : null };
}

/** Options from the environment are options, too. */
function manualEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const unwanted = new Set([
    "MANOPT",
    "MANROFFOPT",
    "MAN_KEEP_FORMATTING",
    "MANLESS",
    "LESS",
    "LESSOPEN",
    "GROFF_TYPESETTER",
  ]);
  const kept = Object.entries(env).filter(([name]) => !unwanted.has(name));
  return { ...Object.fromEntries(kept), MANWIDTH: "80", COLUMNS: "80", MANPAGER: "cat", PAGER: "cat", TERM: "dumb" };
}

function answer(text: string): ToolOutput {
  return {
    output: text.replace(/^\n+/, ""),
    is_error: false,
    effect: "none",
    display: `${text.split("\n").length} lines`,
  };
}

function failure(output: string): ToolOutput {
  return { output, is_error: true, effect: "none" };
}
