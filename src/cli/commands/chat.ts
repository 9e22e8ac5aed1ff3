import type { Command } from "commander";
import { givenFlags, loadOrFail } from "../flags.ts";
import { terminal } from "../terminal.ts";

/** `turnstone chat`: a conversation in the terminal, over the server's HTTP API. */
export function addChatCommand(program: Command): void {
  program
    .command("chat")
    .description("talk with the agent in this terminal")
    .option("--workstream <id>", "go on with this one: its id, the beginning of it, or its alias")
    .option("--user <name>", "whose conversation it is, where more than one person has an account")
    .action(async (options: { workstream?: string; user?: string }) => {
      const config = loadOrFail(givenFlags(program), terminal);
      if (config === null) return;
      const { runChat } = await import("../chat/run.ts");
      await runChat(config, { workstream: options.workstream ?? null, user: options.user ?? null }, terminal);
    });
}
