import { readText } from "./file.ts";
import { isTable } from "./read.ts";

export type McpFileReading = { ok: true; servers: Record<string, unknown> } | { ok: false; error: string };

// What the entries of such files may hold for us; other programs keep keys of their own beside them.
const KEYS = ["type", "command", "args", "env", "url", "headers"];

/** Reads the `mcpServers` of a JSON file in the form that MCP clients share. */
export function readMcpFile(path: string): McpFileReading {
  const read = readText(path);
  if (!read.ok) {
    return { ok: false, error: `The MCP file ${path} cannot be read: ${read.why}. Mend or remove [mcp] config_path.` };
  }
  const content = parseJson(read.text);
  const servers = isTable(content) ? content["mcpServers"] : undefined;
  if (!isTable(servers)) {
    return {
      ok: false,
      error: `${path} must be JSON with an object "mcpServers" that holds one entry for each server.`,
    };
  }
  return {
    ok: true,
    servers: Object.fromEntries(Object.entries(servers).map(([name, entry]) => [name, known(entry)])),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function known(entry: unknown): unknown {
  if (!isTable(entry)) return entry;
  const { oauth } = entry;
  return {
    ...Object.fromEntries(Object.entries(entry).filter(([key]) => KEYS.includes(key))),
    ...(isTable(oauth) ? knownOAuth(oauth) : {}),
  };
}

function knownOAuth({ clientId, clientSecret, scopes }: Record<string, unknown>): Record<string, unknown> {
  const scope = Array.isArray(scopes) ? scopes.join(" ") : scopes;
  const given = { oauth_client_id: clientId, oauth_client_secret: clientSecret, oauth_scope: scope };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
