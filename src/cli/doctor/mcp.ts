import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { searchPath } from "../../config/child_environment.ts";
import { type Config, localAddress } from "../../config/load.ts";
import { isJsonObject } from "../../protocol/json.ts";
import type { Check, Finding } from "./check.ts";
import { failed, fetchJson, ok } from "./check.ts";

type McpServer = Config["mcp"]["servers"][string];

/** Whether each MCP server could be started or called; what its tools are shows `/mcp`. */
export const mcpCheck: Check = {
  name: "mcp",
  async run({ config, signal }) {
    const servers = Object.entries(config.mcp.servers);
    if (servers.length === 0) return [ok("MCP", "No MCP servers are set.")];
    const states = await statesOf(config, signal);
    return Promise.all(
      servers.map(async ([name, server]) => seenBy(name, states) ?? (await checkServer(name, server, signal))),
    );
  },
};

/** What answers where the server should run says of MCP servers, in whatever form; nothing where none runs. */
async function statesOf(config: Config, signal: AbortSignal): Promise<readonly unknown[]> {
  const answer = await fetchJson(`${localAddress(config.server.host, config.server.port)}/health`, signal);
  if (!answer.ok || answer.status !== 200 || !isJsonObject(answer.body)) return [];
  const states = answer.body["mcp_servers"];
  return Array.isArray(states) ? states : [];
}

/** What the running server says; null where it says nothing that is certain. */
function seenBy(name: string, states: readonly unknown[]): Finding | null {
  const seen = states.find((state) => isJsonObject(state) && state["server"] === name);
  if (!isJsonObject(seen)) return null;
  const part = `MCP server ${name}`;
  switch (seen["state"]) {
    case "ready":
      return ok(part, `The running server is connected to it; tools: ${Number(seen["tools"])}.`);
    case "sign_in_required":
      return ok(part, `The running server reaches it; people sign in to it one by one, with /mcp connect ${name}.`);
    case "unavailable":
      return failed(part, "The running server cannot reach it and keeps trying.", "/mcp says why.");
    default:
      return null;
  }
}

async function checkServer(name: string, server: McpServer, signal: AbortSignal): Promise<Finding> {
  const part = `MCP server ${name}`;
  if (name.includes("__")) return failed(part, "Its name holds two underscores in a row.", "Give it another name.");
  if (server.command !== null) {
    if (isProgram(server.command)) return ok(part, `${server.command} can be started.`);
    return failed(part, `There is no program ${server.command}.`, "Install it, or write its whole path as command.");
  }
  const url = server.url ?? "";
  const answer = await fetchJson(url, signal, server.headers);
  if (!answer.ok) return failed(part, `${url} does not answer (${answer.why}).`, "Start it, or look at the address.");
  if (answer.status === 401 || answer.status === 403) {
    return failed(part, `${url} refuses the credential (${answer.status}).`, "Look at headers.");
  }
  return ok(part, `${url} answers.`);
}

/** Whether a command names a program that this user may start. */
export function isProgram(command: string): boolean {
  const folders = isAbsolute(command) || command.includes("/") ? [""] : searchPath().split(delimiter);
  return folders.some((folder) => isExecutable(folder === "" ? command : join(folder, command)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
