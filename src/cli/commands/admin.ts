import { once } from "node:events";
import { createInterface } from "node:readline";
import { Command } from "commander";
import { prepareDataDirectory } from "../../config/data_directory.ts";
import type { Config } from "../../config/load.ts";
import { systemClock } from "../../lib/clock.ts";
import { StoreError } from "../../store/index.ts";
import type { AdminCommand, AdminOptions, AdminResult } from "../admin/command.ts";
import { ADMIN_COMMANDS } from "../admin/index.ts";
import { restore } from "../admin/restore.ts";
import { givenFlags, loadOrFail } from "../flags.ts";
import { openConfiguredStore } from "../store_access.ts";
import { terminal } from "../terminal.ts";

/** `turnstone admin …`: works on the data directory, whether a server runs or not. */
export function addAdminCommand(program: Command): void {
  const admin = program.command("admin").description("people, tokens, links and backups");
  for (const command of ADMIN_COMMANDS) {
    const built = buildCommand(command);
    built.action(() => finish(program, built, (config, options) => runOnStore(command, config, options)));
    admin.addCommand(built);
  }
  const built = buildCommand({
    usage: "restore <file>",
    about: "put a backup in the store's place; no server may run",
  });
  built.action(() => finish(program, built, (config) => restore(config, built.args[0] ?? "")));
  admin.addCommand(built);
}

function buildCommand(command: Omit<AdminCommand, "run">): Command {
  const [name, argument] = command.usage.split(" ");
  const built = new Command(name).description(command.about).exitOverride();
  if (argument !== undefined) built.argument(argument);
  for (const [flags, about] of command.required ?? []) built.requiredOption(flags, about);
  for (const [flags, about] of command.optional ?? []) built.option(flags, about);
  return built.option("--json", "print one JSON object");
}

async function finish(
  program: Command,
  command: Command,
  run: (config: Config, options: AdminOptions) => Promise<AdminResult>,
): Promise<void> {
  const config = loadOrFail(givenFlags(program), terminal);
  if (config === null) return;
  const options: AdminOptions = { ...command.opts<AdminOptions>(), file: command.args[0] };
  const result = await run(config, options);
  if (options["json"] === true) terminal.print(JSON.stringify(result.ok ? result.data : { error: result.error }));
  else if (result.ok) for (const line of result.lines) terminal.print(line);
  else terminal.warn(result.error);
  if (!result.ok) process.exitCode = 1;
}

async function runOnStore(command: AdminCommand, config: Config, options: AdminOptions): Promise<AdminResult> {
  const prepared = prepareDataDirectory(config);
  if (!prepared.ok) return prepared;
  try {
    const store = await openConfiguredStore(config);
    try {
      return await command.run({ store, config, clock: systemClock, readLine }, options);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, error: error.message };
    throw error;
  }
}

async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  const [line] = (await Promise.race([once(lines, "line"), once(lines, "close").then(() => [""])])) as [string];
  lines.close();
  return line;
}
