import type { ToolDefinition } from "../protocol/tool_definition.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { clip, plainText, toolDescription } from "./describe.ts";
import { mendSchema } from "./input_schema.ts";
import { exposedName } from "./names.ts";
import type { Session } from "./session.ts";

/** Tools of one server; more is a fault or an attack, and nobody could choose among them. */
export const TOOLS_MAX = 1000;

/** Characters of all definitions of one server: what it may cost in memory and in the index. */
const DEFINITIONS_LENGTH_MAX = 8_000_000;

/** Characters of a description that searching looks at. */
const ABOUT_LENGTH_MAX = 4096;

/** Reasons that are told; a broken server has the same one a thousand times. */
const LEFT_OUT_SHOWN_MAX = 20;

/** One remote tool as it may be offered. */
export interface ListedTool {
  own_name: string;
  definition: ToolDefinition;
  about: string;
}

export interface ToolList {
  tools: ListedTool[];
  /** Why others are missing. */
  left_out: string[];
}

/** Reads every page of the server's tools. Rejects when a page cannot be read. */
export async function readToolList(
  server: string,
  session: Session,
  timeout_ms: number,
  signal: AbortSignal,
): Promise<ToolList> {
  if (!session.offers("tools")) return { tools: [], left_out: [] };
  const gathered = new Gathered(server);
  for await (const entries of pagesOf(session, "tools/list", "tools", timeout_ms, signal)) {
    for (const entry of entries) if (!gathered.add(entry)) return gathered.list;
  }
  return gathered.list;
}

/**
 * The same list, without secrets in what its server says: a server may tell what it was given, and models are shown
 * it.
 */
export function withoutSecrets({ tools, left_out }: ToolList, redact: (text: string) => string): ToolList {
  return {
    tools: tools.map(({ own_name, definition, about }) => {
      const description = redact(definition.description);
      const parameters = redactTexts(definition.parameters, redact);
      return { own_name, definition: { ...definition, description, parameters }, about: redact(about) };
    }),
    left_out: left_out.map(redact),
  };
}

function redactTexts<T extends JsonValue>(value: T, redact: (text: string) => string): T;
function redactTexts(value: JsonValue, redact: (text: string) => string): JsonValue {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redact));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactTexts(item, redact)]));
}

/** Pages of a list. A cursor that comes again ends it, since it would never end. */
export async function* pagesOf(
  session: Session,
  method: string,
  key: string,
  timeout: number,
  signal: AbortSignal,
): AsyncIterable<JsonValue[]> {
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: JsonObject = await session.request(method, cursor === null ? {} : { cursor }, { timeout, signal });
    const entries = page[key];
    yield Array.isArray(entries) ? entries : [];
    const next = page["nextCursor"];
    cursor = typeof next === "string" && next !== "" && !seen.has(next) ? next : null;
    if (cursor !== null) seen.add(cursor);
  } while (cursor !== null && seen.size <= TOOLS_MAX);
}

class Gathered {
  readonly list: ToolList = { tools: [], left_out: [] };
  readonly #server: string;
  readonly #names = new Set<string>();
  #length = 0;

  constructor(server: string) {
    this.#server = server;
  }

  /** False when no more can be taken. */
  add(entry: JsonValue): boolean {
    if (this.list.tools.length >= TOOLS_MAX) {
      this.#leaveOut(`It has more than ${TOOLS_MAX.toLocaleString("en-US")} tools; the rest is not offered.`);
      return false;
    }
    const read = readTool(this.#server, entry);
    if (!read.ok) {
      this.#leaveOut(read.why);
      return true;
    }
    const { own_name, definition } = read.tool;
    if (this.#names.has(definition.name)) {
      this.#leaveOut(`${shown(own_name)} is there twice; the first one is offered.`);
      return true;
    }
    this.#length += JSON.stringify(definition).length + read.tool.about.length;
    if (this.#length > DEFINITIONS_LENGTH_MAX) {
      this.#leaveOut("Its tools are described at too great a length; the rest is not offered.");
      return false;
    }
    this.#names.add(definition.name);
    this.list.tools.push(read.tool);
    return true;
  }

  #leaveOut(why: string): void {
    if (this.list.left_out.length < LEFT_OUT_SHOWN_MAX) this.list.left_out.push(why);
  }
}

type ReadTool = { ok: true; tool: ListedTool } | { ok: false; why: string };

function readTool(server: string, entry: JsonValue): ReadTool {
  if (!isJsonObject(entry) || typeof entry["name"] !== "string" || entry["name"] === "") {
    return { ok: false, why: "A tool without a name is not offered." };
  }
  const own_name = entry["name"];
  const { execution, description, title } = entry;
  if (isJsonObject(execution) && execution["taskSupport"] === "required") {
    return { ok: false, why: `${shown(own_name)} is not offered: it runs as a task only, which is not supported.` };
  }
  const mended = mendSchema(entry["inputSchema"]);
  if (!mended.ok) return { ok: false, why: `${shown(own_name)} is not offered: ${mended.why}.` };
  const about = [title, description].find((text) => typeof text === "string" && text.trim() !== "");
  const told = typeof description === "string" && description.trim() !== "" ? description : about;
  const definition: ToolDefinition = {
    name: exposedName(server, own_name),
    description: toolDescription(server, typeof told === "string" ? told : own_name),
    parameters: mended.schema,
    agent: true,
    task_agent: true,
    auto_approve: false,
    primary_key: primaryKey(mended.schema),
  };
  return {
    ok: true,
    tool: { own_name, definition, about: clip(plainText(aboutOf(title, description)), ABOUT_LENGTH_MAX) },
  };
}

function aboutOf(...texts: (JsonValue | undefined)[]): string {
  return texts.filter((text) => typeof text === "string").join(". ");
}

/** What bare text stands for: the first argument that must be there, else the first one. */
function primaryKey({ required, properties }: JsonObject): string {
  const first_required = Array.isArray(required) ? required[0] : undefined;
  if (typeof first_required === "string") return first_required;
  return isJsonObject(properties) ? (Object.keys(properties)[0] ?? "") : "";
}

function shown(name: string): string {
  return clip(plainText(name), 80);
}
