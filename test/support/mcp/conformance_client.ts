/**
 * The client of this project as the official conformance suite starts it: with the address of a server as its last
 * argument. It connects and calls each tool once.
 */
import { remote, startServers } from "./servers.ts";

/** What the suite's tools take. */
const ARGUMENTS = { add_numbers: { a: 5, b: 3 } } as const;

const servers = startServers({ suite: remote(process.argv.at(-1) ?? "") });
await servers.manager.settled();
const [status] = servers.manager.status();
let failed = status?.state !== "ready";
for (const tool of servers.manager.tools()) {
  const args = tool.own_name === "add_numbers" ? ARGUMENTS.add_numbers : {};
  const askPeople = () => Promise.resolve({ action: "accept" as const, content: {} });
  const result = await servers.call(tool.definition.name, args, { askPeople });
  failed ||= !result.prepared || result.is_error;
  process.stdout.write(`${tool.own_name}: ${result.prepared ? result.output : result.error}\n`);
}
await servers.close();
process.exitCode = failed ? 1 : 0;
