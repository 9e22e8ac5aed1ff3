import { sha256 } from "../lib/ids.ts";

/** Anthropic and OpenAI refuse a request with a longer tool name. */
export const TOOL_NAME_LENGTH_MAX = 64;

/** What both take in a tool's name. */
const WIRE_NAME = new RegExp(`^[A-Za-z0-9_-]{1,${TOOL_NAME_LENGTH_MAX}}$`);

/** Hexadecimal digits that keep shortened names apart. */
const HASH_LENGTH = 8;

/** Of a server's name in a shortened one, so that there is room for the tool's own. */
const SERVER_LENGTH_SHORTENED = 24;

/** Why a server of this name cannot be used, in one sentence; null when it can. */
export function serverNameProblem(server: string): string | null {
  if (server.trim() === "") return "The name of an MCP server is empty; give it one.";
  if (server.includes("__")) {
    return `The MCP server ${server} is not used: two underscores in a row part server and tool; give it another name.`;
  }
  return null;
}

/**
 * The name of a server's tool for models: `mcp__{server}__{tool}`. One that is too long or holds other characters than
 * letters, digits, underscore and hyphen is shortened, and ends in a hash of both names.
 */
export function exposedName(server: string, tool: string): string {
  const whole = `mcp__${server}__${tool}`;
  if (WIRE_NAME.test(whole)) return whole;
  const hash = sha256(JSON.stringify([server, tool])).slice(0, HASH_LENGTH);
  const fits = whole.length + 1 + HASH_LENGTH <= TOOL_NAME_LENGTH_MAX;
  const readable = fits ? whole : `mcp__${server.slice(0, SERVER_LENGTH_SHORTENED)}__${tool}`;
  const cleaned = onWire(readable).slice(0, TOOL_NAME_LENGTH_MAX - 1 - HASH_LENGTH);
  return `${cleaned}_${hash}`;
}

/** Whether an exposed name could be that of one of the server's tools. */
export function mayBelongTo(exposed: string, server: string): boolean {
  const beginnings = [`mcp__${server}__`, `mcp__${server.slice(0, SERVER_LENGTH_SHORTENED)}__`];
  return beginnings.some((beginning) => exposed.startsWith(onWire(beginning)));
}

function onWire(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_");
}
