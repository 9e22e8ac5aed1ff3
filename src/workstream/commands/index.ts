import type { EngineFailure } from "../../contracts/engine.ts";
import { nearestNames } from "../../lib/nearest.ts";
import type { DecidedBy } from "../../protocol/approval.ts";
import type { Workstream } from "../actor.ts";
import { tellOfEnd } from "../done_notice.ts";
import { clear } from "./clear.ts";
import type { Command } from "./command.ts";
import { compact } from "./compact.ts";
import { done } from "./done.ts";
import { grants } from "./grants.ts";
import { mcp } from "./mcp.ts";
import { memory } from "./memory.ts";
import { model } from "./model.ts";
import { status } from "./status.ts";
import { title } from "./title.ts";

const help: Command = {
  name: "help",
  usage: "/help",
  summary: "shows this list",
  run: () => Promise.resolve([...COMMANDS.values()].map(({ usage, summary }) => `${usage}: ${summary}`).join("\n")),
};

const stop: Command = {
  name: "stop",
  usage: "/stop",
  summary: "stops the running turn",
  async run({ actor }) {
    const { status: answer } = await actor.cancel(false);
    return answer === "idle" ? "Nothing is running." : "Stopped.";
  },
};

/** All slash commands; the order is that of `/help`. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  [help, status, stop, done, model, memory, mcp, compact, clear, title, grants].map((command) => [
    command.name,
    command,
  ]),
);

/** Runs a slash command. Its output is the answer, and an `info` entry too unless it is for the person alone. */
export async function runCommand(
  actor: Workstream,
  line: string,
  by: DecidedBy,
): Promise<{ ok: true; output: string } | EngineFailure> {
  const [name = "", ...words] = line.trim().replace(/^\//, "").split(/\s+/);
  const command = COMMANDS.get(name.toLowerCase());
  if (command === undefined) {
    const near = nearestNames(name, [...COMMANDS.keys()]);
    const hint = near.length > 0 ? `Did you mean /${near.join(" or /")}?` : "/help lists the commands.";
    return { ok: false, reason: "invalid", error: `There is no command /${name.slice(0, 40)}. ${hint}` };
  }
  await actor.surroundings.open();
  const text = line.trim().replace(/^\/?\S+\s*/, "");
  const said = await command.run({ actor, words, text, by });
  const { message, private: kept } = typeof said === "string" ? { message: said, private: {} } : said;
  const output = actor.services.redact(message);
  const event = { type: "info", message: output } as const;
  if (command.personal?.(words) === true) {
    actor.services.bus.publishTo(by.user_id, actor.row.ws_id, event);
    return { ok: true, output };
  }
  await actor.append({ entries: [{ event, private: kept }] });
  // The turn may have ended while the wish was on its way to the disk.
  if (kept.tell_when_done !== undefined && actor.conversation.turn === null) tellOfEnd(actor);
  return { ok: true, output };
}
