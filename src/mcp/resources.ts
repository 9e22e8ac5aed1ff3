import type { ExternalTool } from "../contracts/external_tools.ts";
import type { PrepareContext, Preparation, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { cut } from "../lib/cut.ts";
import { visibleLine } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { AttachmentReference } from "../protocol/event.ts";
import type { Connection } from "./connection.ts";
import { clip, plainText, toolDescription } from "./describe.ts";
import { exposedName } from "./names.ts";
import { failedRequest, notSignedIn } from "./failed_request.ts";
import { readResource } from "./result.ts";
import type { Server } from "./server.ts";
import { accountNotes, cannotCall, connectionOf } from "./whose.ts";

/** Resources that one answer lists. */
const LISTED_MAX = 200;

const LINE_LENGTH_MAX = 500;

const OWN_NAME = "read_resource";

/** A tool that lists and reads a server's resources; null when it has a tool of that name itself. */
export function resourceTool(server: Server): ExternalTool | null {
  if (server.tools.some((tool) => tool.own_name === OWN_NAME)) return null;
  const about = "Reads a resource of this server by its uri, or lists the resources where no uri is given.";
  const name = exposedName(server.name, OWN_NAME);
  return {
    own_name: OWN_NAME,
    about,
    definition: {
      name,
      description: toolDescription(server.name, about),
      parameters: {
        type: "object",
        properties: { uri: { type: "string", description: "As listed, or as a tool's result links to it" } },
        required: [],
        additionalProperties: false,
      },
      agent: true,
      task_agent: true,
      auto_approve: false,
      primary_key: "uri",
    },
    tool: {
      name,
      prepare: (args, context) => prepareReading(server, args, context),
      async execute(plan, context) {
        const connection = await connectionOf(server, context);
        if (connection === null) return { output: notSignedIn(server.name), is_error: true, effect: "none" };
        return read(connection, isJsonObject(plan) ? plan["uri"] : undefined, context);
      },
    },
  };
}

function prepareReading(server: Server, { uri }: JsonObject, context: PrepareContext): Preparation {
  const error = cannotCall(server, context);
  if (error !== null) return { ok: false, error };
  const wanted = typeof uri === "string" ? uri.trim() : "";
  const what = wanted === "" ? "list of resources" : visibleLine(wanted);
  return {
    ok: true,
    plan: { uri: wanted },
    header: `mcp:${visibleLine(server.name)}/${OWN_NAME}: ${what}`,
    preview: what,
    needs_approval: true,
    effect: "none",
    subject: wanted,
    ...accountNotes(server),
  };
}

async function read(connection: Connection, uri: JsonValue | undefined, context: ToolContext): Promise<ToolOutput> {
  if (typeof uri !== "string" || uri === "") return list(connection, context);
  const outcome = await connection.request("resources/read", { uri }, limitsOf(context));
  context.signal.throwIfAborted();
  if (outcome.status !== "answered") {
    return failedRequest(connection.name, `reading ${uri}`, outcome, context.timeout_s);
  }
  const contents = outcome.result["contents"];
  const images: AttachmentReference[] = [];
  const pieces: string[] = [];
  for (const part of Array.isArray(contents) ? contents.filter(isJsonObject) : []) {
    pieces.push(await readResource(part, images, context));
  }
  const text = pieces.length === 0 ? "(empty)" : pieces.join("\n");
  return {
    output: cut(text, context.output_limit, "Ask for another resource."),
    is_error: false,
    effect: "none",
    images,
  };
}

async function list(connection: Connection, context: ToolContext): Promise<ToolOutput> {
  const lines: string[] = [];
  for (const [method, key, address] of LISTS) {
    const outcome = await connection.request(method, {}, limitsOf(context));
    context.signal.throwIfAborted();
    // A server may have one kind and not the other.
    if (outcome.status === "refused") continue;
    if (outcome.status !== "answered") {
      return failedRequest(connection.name, "listing resources", outcome, context.timeout_s);
    }
    const entries = outcome.result[key];
    const found = Array.isArray(entries) ? entries.filter(isJsonObject) : [];
    lines.push(...found.slice(0, LISTED_MAX).map((entry) => resourceLine(entry, address)));
    if (found.length > LISTED_MAX) lines.push(`and ${found.length - LISTED_MAX} more`);
  }
  return { output: lines.length === 0 ? "There are no resources." : lines.join("\n"), is_error: false, effect: "none" };
}

const LISTS = [
  ["resources/list", "resources", "uri"],
  ["resources/templates/list", "resourceTemplates", "uriTemplate"],
] as const;

function limitsOf(context: ToolContext): { timeout: number; signal: AbortSignal } {
  return { timeout: context.timeout_s * 1000, signal: context.signal };
}

function resourceLine(entry: JsonObject, address: "uri" | "uriTemplate"): string {
  const { name, mimeType, description } = entry;
  const [uri = "", ...facts] = [entry[address], name, mimeType, description].filter((fact) => typeof fact === "string");
  return clip(plainText(`- ${uri}: ${facts.join("; ")}`).replaceAll("\n", " "), LINE_LENGTH_MAX);
}
