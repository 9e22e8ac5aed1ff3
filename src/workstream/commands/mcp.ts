import type { ExternalServers, ExternalServerStatus, RefreshReport } from "../../contracts/external_tools.ts";
import { timestamp } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import type { Workstream } from "../actor.ts";
import type { Command, CommandInput } from "./command.ts";

/** Characters of a description in the list. */
const DESCRIPTION_LENGTH_MAX = 80;

/** Tools that one answer lists. */
const TOOLS_SHOWN_MAX = 200;

/** Shows external servers and their tools, reads those anew, and brings a server's prompts into the conversation. */
export const mcp: Command = {
  name: "mcp",
  usage: "/mcp [refresh [server] | prompt [server name [key=value ...]] | connect server | disconnect server]",
  summary: "lists the tools of MCP servers, reads them again, uses one of their prompts, or signs you in to one",
  personal: ([action]) => action === "connect" || action === "disconnect",
  async run(input) {
    const servers = input.actor.services.external_servers;
    if (servers === null) return "No MCP servers configured.";
    const [action, ...words] = input.words;
    switch (action) {
      case undefined:
      case "":
        return overview(servers);
      case "refresh":
        return refresh(servers, words[0] ?? null);
      case "prompt":
        return prompt(servers, input, words);
      case "connect":
        return connect(servers, input, words[0] ?? "");
      case "disconnect":
        return disconnect(servers, input, words[0] ?? "");
      default:
        return `/mcp ${action} is not known; say /mcp, /mcp refresh [server], /mcp prompt [server name] or /mcp connect server.`;
    }
  },
};

async function connect({ sign_ins }: ExternalServers, { by }: CommandInput, server: string): Promise<string> {
  const begun = await sign_ins.begin(server, by.user_id);
  if (!begun.ok) return begun.error;
  return `Open this address, which is for you alone, and sign in there; what waits here goes on by itself:\n${begun.url}`;
}

async function disconnect({ sign_ins }: ExternalServers, { actor, by }: CommandInput, server: string): Promise<string> {
  const { store, clock } = actor.services;
  if (!(await sign_ins.signOut(server, by.user_id))) return "You are not signed in to an MCP server of this name.";
  const at = timestamp(clock);
  const { user_id } = by;
  await store.audit.add({ audit_id: newId(), at, user_id, action: "mcp.signed_out", target: server, details: {} });
  return `Your sign-in to ${server} is forgotten here. What you allowed there you take back there.`;
}

function overview(servers: ExternalServers): string {
  const tools = servers.tools();
  const troubles = servers.status().flatMap(troublesOf);
  const width = Math.max(0, ...tools.slice(0, TOOLS_SHOWN_MAX).map((tool) => tool.definition.name.length));
  const lines = tools.slice(0, TOOLS_SHOWN_MAX).map(({ definition: { name, description } }) => {
    const line = description.replace(/\s+/g, " ");
    const shown = line.length > DESCRIPTION_LENGTH_MAX ? `${line.slice(0, DESCRIPTION_LENGTH_MAX - 1)}…` : line;
    return `  ${name.padEnd(width)}  ${shown}`;
  });
  if (tools.length > TOOLS_SHOWN_MAX) lines.push(`  and ${tools.length - TOOLS_SHOWN_MAX} more`);
  const head = tools.length === 0 ? "MCP client connected but no tools available." : `MCP tools (${tools.length}):`;
  return [head, ...lines, ...troubles].join("\n");
}

function troublesOf({ server, state, problem, left_out }: ExternalServerStatus): string[] {
  const what = state === "ready" ? "" : `${state}: `;
  const trouble = state === "ready" && problem === null ? [] : [`  ${server}: ${what}${problem ?? "not answered yet"}`];
  return [...trouble, ...left_out.map((note) => `  ${server}: ${note}`)];
}

async function refresh(servers: ExternalServers, server: string | null): Promise<string> {
  const reports = await servers.refresh(server);
  if (reports === null) {
    const known = servers.status().map((status) => status.server);
    return `There is no MCP server ${server ?? ""}; known are ${known.join(", ")}.`;
  }
  return ["MCP refresh complete:", ...reports.flatMap(reportLines)].join("\n");
}

function reportLines(report: RefreshReport): string[] {
  if (!report.ok) return [`  ${report.server}: failed: ${report.error}`];
  const { server, added, removed } = report;
  if (added.length === 0 && removed.length === 0) return [`  ${server}: no changes`];
  const counts = [
    ...(added.length === 0 ? [] : [`+${added.length} added`]),
    ...(removed.length === 0 ? [] : [`-${removed.length} removed`]),
  ];
  return [
    `  ${server}: ${counts.join(", ")}`,
    ...added.map((name) => `    + ${name}`),
    ...removed.map((name) => `    - ${name}`),
  ];
}

async function prompt(servers: ExternalServers, { actor, by }: CommandInput, words: string[]): Promise<string> {
  const [server, name, ...pairs] = words;
  if (server === undefined || name === undefined) return listPrompts(servers, server ?? null, actor.row.user_id);
  const args = Object.fromEntries(pairs.map((pair) => [pair.split("=")[0] ?? "", pair.slice(pair.indexOf("=") + 1)]));
  const answer = await servers.prompt(server, name, args, actor.row.user_id);
  if (!answer.ok) return answer.error;
  return say(actor, answer.text, by.name, by.user_id, `${server}/${name}`);
}

async function listPrompts(servers: ExternalServers, server: string | null, user_id: string | null): Promise<string> {
  const prompts = (await servers.prompts(user_id)).filter((prompt) => server === null || prompt.server === server);
  if (prompts.length === 0) return "No MCP server offers prompts.";
  const lines = prompts.map(({ server: from, name, description, arguments: args }) => {
    const shown = args.map((argument) => (argument.required ? `${argument.name}=…` : `[${argument.name}=…]`)).join(" ");
    return `  /mcp prompt ${from} ${name}${shown === "" ? "" : ` ${shown}`}${description === "" ? "" : `: ${description}`}`;
  });
  return ["MCP prompts:", ...lines].join("\n");
}

/** A prompt is a message that a person chose to send. */
async function say(
  actor: Workstream,
  content: string,
  name: string,
  user_id: string | null,
  from: string,
): Promise<string> {
  const sender = user_id === null ? null : { user_id, name };
  const sent = await actor.inbox.send({ content, client_send_id: null, attachments: [], sender, source: "mcp_prompt" });
  if ("ok" in sent) return sent.error;
  return sent.status === "queue_full"
    ? "Too many messages wait already; try again later."
    : `The prompt ${from} was sent.`;
}
