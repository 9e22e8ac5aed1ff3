/**
 * The client of this project as the official conformance suite starts it: with the address of a server as its last
 * argument. It connects, signs in where that is asked for, and calls each tool once.
 */
import type { ToolContext } from "../../../src/contracts/tool.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { createSealer } from "../../../src/lib/seal.ts";
import { CredentialStore } from "../../../src/mcp/sign_in/kept.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { temporaryStore } from "../temporary_store.ts";
import { remote, startServers } from "./servers.ts";

/** What the suite's tools take. */
const ARGUMENTS = { add_numbers: { a: 5, b: 3 } } as const;
/** The address that the suite takes for a client's published metadata. */
const METADATA_URL = "https://conformance-test.local/client-metadata.json";

const kept = await temporaryStore();
const sealer = createSealer("a secret of the suite", "conformance");
const store = new CredentialStore({ store: kept.store.mcp_sign_ins, sealer, clock: systemClock, log: silentLog });
const presentation = { redirect_url: "http://127.0.0.1:9/callback", client_metadata_url: METADATA_URL };
const context: unknown = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}");
const given = isJsonObject(context) ? context : {};
const textOf = (name: string): string | null => (typeof given[name] === "string" ? given[name] : null);
const settings = {
  ...remote(process.argv.at(-1) ?? ""),
  oauth_client_id: textOf("client_id"),
  oauth_client_secret: textOf("client_secret"),
};
const servers = startServers({ suite: settings }, { credentials: { store, presentation } });

/** As a person would with a browser; the suite's authorisation server consents at once. */
async function signIn(): Promise<boolean> {
  const { sign_ins } = servers.manager;
  const begun = await sign_ins.begin("suite", "person");
  if (!begun.ok) {
    process.stdout.write(`${begun.error}\n`);
    return false;
  }
  const answer = await fetch(begun.url, { redirect: "manual" });
  const back = new URL(answer.headers.get("location") ?? "http://none").searchParams;
  const [state, code] = [back.get("state") ?? "", back.get("code") ?? ""];
  const finished = await sign_ins.finish({ state, code, issuer: back.get("iss") });
  process.stdout.write(`${JSON.stringify(finished)}\n`);
  return finished.ok;
}

const askPeople: ToolContext["askPeople"] = async (_server, request) => ({
  action: request.kind !== "sign_in" || (await signIn()) ? "accept" : "decline",
  content: {},
});

await servers.manager.settled();
let failed = false;
if (servers.state("suite")?.state === "sign_in_required") failed = !(await signIn());
failed ||= servers.state("suite")?.state !== "ready";
for (const tool of servers.manager.tools()) {
  const args = tool.own_name === "add_numbers" ? ARGUMENTS.add_numbers : {};
  const result = await servers.call(tool.definition.name, args, { user_id: "person", askPeople });
  failed ||= !result.prepared || result.is_error;
  process.stdout.write(`${tool.own_name}: ${result.prepared ? result.output : result.error}\n`);
}
await servers.close();
await kept.remove();
process.exitCode = failed ? 1 : 0;
