import type { ExternalPrompt, PromptText } from "../contracts/external_tools.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { Connection } from "./connection.ts";
import { clip, plainText } from "./describe.ts";
import type { McpDependencies } from "./settings.ts";
import { pagesOf } from "./tool_list.ts";

/** Prompts of one server that are listed. */
const PROMPTS_MAX = 200;

/** Characters of a prompt; a longer one is no prompt any more. */
const PROMPT_LENGTH_MAX = 100_000;

const DESCRIPTION_LENGTH_MAX = 200;

/** A server's prompts; none when it has none, is away, or does not answer. */
export async function listPrompts(connection: Connection, { limits, log }: McpDependencies): Promise<ExternalPrompt[]> {
  const { session } = connection;
  if (session === null || !session.offers("prompts")) return [];
  const prompts: ExternalPrompt[] = [];
  try {
    const signal = AbortSignal.timeout(limits.list_timeout_ms);
    for await (const entries of pagesOf(session, "prompts/list", "prompts", limits.list_timeout_ms, signal)) {
      prompts.push(...entries.flatMap((entry) => readPrompt(connection.name, entry)));
      if (prompts.length >= PROMPTS_MAX) break;
    }
  } catch (error) {
    log.debug("mcp.prompts_unread", { server: connection.name, error });
  }
  return prompts.slice(0, PROMPTS_MAX);
}

function readPrompt(server: string, entry: JsonValue): ExternalPrompt[] {
  if (!isJsonObject(entry) || typeof entry["name"] !== "string") return [];
  const { name, description, arguments: args } = entry;
  const named = (Array.isArray(args) ? args : []).filter(isJsonObject);
  return [
    {
      server,
      name,
      description: typeof description === "string" ? clip(plainText(description), DESCRIPTION_LENGTH_MAX) : "",
      arguments: named.flatMap((argument) =>
        typeof argument["name"] === "string"
          ? [{ name: argument["name"], required: argument["required"] === true }]
          : [],
      ),
    },
  ];
}

/** The text of a prompt, all its messages in order. */
export async function readPromptText(
  connection: Connection,
  name: string,
  args: Record<string, string>,
  { limits }: McpDependencies,
): Promise<PromptText> {
  const outcome = await connection.request(
    "prompts/get",
    { name, arguments: args },
    { timeout: limits.list_timeout_ms, signal: AbortSignal.timeout(limits.list_timeout_ms) },
  );
  if (outcome.status !== "answered") {
    const why = "error" in outcome ? outcome.error : "it did not answer in time";
    return { ok: false, error: `The MCP server ${connection.name} gave no prompt ${name}: ${plainText(why)}` };
  }
  const { messages } = outcome.result;
  const texts = Array.isArray(messages) ? messages.filter(isJsonObject).map(messageText) : [];
  const text = texts.filter((part) => part !== "").join("\n\n");
  if (text === "") return { ok: false, error: `The prompt ${name} of ${connection.name} holds no text.` };
  return { ok: true, text: clip(text, PROMPT_LENGTH_MAX) };
}

function messageText({ role, content }: JsonObject): string {
  if (!isJsonObject(content)) return "";
  const { resource } = content;
  const text = isJsonObject(resource) ? resource["text"] : content["text"];
  if (typeof text !== "string") return "";
  return role === "assistant" ? `(You said earlier:) ${plainText(text)}` : plainText(text);
}
