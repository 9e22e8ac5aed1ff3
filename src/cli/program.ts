import { Command, CommanderError } from "commander";
import { describeError } from "../lib/log.ts";
import { addAdminCommand } from "./commands/admin.ts";
import { addChatCommand } from "./commands/chat.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addGatewayCommand } from "./commands/gateway.ts";
import { addPracticeCommand } from "./commands/practice.ts";
import { addServerCommand } from "./commands/server.ts";
import { addStartCommand } from "./commands/start.ts";
import { addSettingFlags } from "./flags.ts";
import { packageVersion } from "./package.ts";
import { terminal } from "./terminal.ts";

/** Runs the program with the arguments after its name. The process's exit code tells how it went. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(argv, { from: "user" });
  } catch (error) {
    // Commander has said what was wrong with the arguments, or shown what was asked for.
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else terminal.fail(`turnstone stopped because something in it broke: ${describeError(error)}`);
  }
}

/** The command line as a whole. */
export function buildProgram(): Command {
  const program = new Command("turnstone")
    .description("A self-hosted agent platform: a Discord thread is a conversation with an agent that has real tools.")
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError("(turnstone --help lists what there is)")
    .configureHelp({ showGlobalOptions: true });
  addSettingFlags(program);
  addStartCommand(program);
  addServerCommand(program);
  addGatewayCommand(program);
  addPracticeCommand(program);
  addChatCommand(program);
  addAdminCommand(program);
  addDoctorCommand(program);
  return program;
}
