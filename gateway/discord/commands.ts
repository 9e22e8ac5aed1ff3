import { isDeepStrictEqual } from "node:util";
import { ApplicationCommandOptionType, ApplicationCommandType, Routes, type Client } from "discord.js";
import type { CommandDefinition, CommandOption } from "../channel_adapter.ts";

interface Wire {
  type: number;
  name: string;
  description: string;
  options: WireOption[];
}

interface WireOption {
  type: number;
  name: string;
  description: string;
  required?: boolean;
  autocomplete?: boolean;
  choices?: { name: string; value: string }[];
  options?: WireOption[];
}

/** Makes Discord offer exactly these commands. Nothing is sent when it does already: creations are counted per day. */
export async function registerCommands(
  client: Client<true>,
  guild_id: string | null,
  commands: readonly CommandDefinition[],
): Promise<boolean> {
  const route =
    guild_id === null
      ? Routes.applicationCommands(client.application.id)
      : Routes.applicationGuildCommands(client.application.id, guild_id);
  const wanted = commands.map(wireOf);
  const present = (await client.rest.get(route)) as Partial<Wire>[];
  const sorted = (list: readonly Partial<Wire>[]): unknown =>
    list.map(comparable).toSorted((one, other) => one.key.localeCompare(other.key));
  if (isDeepStrictEqual(sorted(wanted), sorted(present))) return false;
  await client.rest.put(route, { body: wanted });
  return true;
}

function wireOf(command: CommandDefinition): Wire {
  if (command.kind === "message") {
    return { type: ApplicationCommandType.Message, name: command.name, description: "", options: [] };
  }
  const options = (command.options ?? []).map(optionOf);
  const subcommands = (command.subcommands ?? []).map((each) => ({
    type: ApplicationCommandOptionType.Subcommand,
    name: each.name,
    description: each.description,
    options: (each.options ?? []).map(optionOf),
  }));
  return {
    type: ApplicationCommandType.ChatInput,
    name: command.name,
    description: command.description,
    options: [...subcommands, ...options],
  };
}

function optionOf(option: CommandOption): WireOption {
  return {
    type: option.type === "file" ? ApplicationCommandOptionType.Attachment : ApplicationCommandOptionType.String,
    name: option.name,
    description: option.description,
    required: option.required,
    ...(option.suggests === true ? { autocomplete: true } : {}),
    ...(option.choices === undefined ? {} : { choices: option.choices }),
  };
}

/** What of a command we decide, without what Discord adds. */
function comparable(command: Partial<Wire>): { key: string; description: string; options: unknown } {
  const { type = ApplicationCommandType.ChatInput, name = "", description = "", options = [] } = command;
  return { key: `${type}:${name}`, description, options: options.map(comparableOption) };
}

function comparableOption(option: WireOption): Record<string, unknown> {
  return {
    type: option.type,
    name: option.name,
    description: option.description,
    required: option.required ?? false,
    autocomplete: option.autocomplete ?? false,
    choices: (option.choices ?? []).map(({ name, value }) => ({ name, value })),
    options: (option.options ?? []).map(comparableOption),
  };
}
