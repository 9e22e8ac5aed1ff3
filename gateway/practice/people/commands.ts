import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import type { Channel, Command, World } from "../model.ts";
import { basePermissions } from "../permissions.ts";
import { commandsOf } from "../world.ts";
import { attachmentPayload } from "../files.ts";
import { addResolved, keepGivenFile, resolveId } from "./forms.ts";
import type { GivenFile } from "./forms.ts";
import { NotPossible, findChannel, findUser } from "./find.ts";
import { objectsIn, textOf } from "../json.ts";

/** What a person types behind a command, by option name. */
export type OptionValue = string | number | boolean | GivenFile;
export type OptionValues = Readonly<Record<string, OptionValue>>;

const OPTION = {
  subcommand: 1,
  group: 2,
  string: 3,
  integer: 4,
  boolean: 5,
  user: 6,
  channel: 7,
  role: 8,
  attachment: 11,
};

/** The commands that the client offers this person here. Guild commands hide global ones of the same name. */
export function offeredCommands(world: World, channel: Channel, userId: string): Command[] {
  const own = channel.guild_id === null ? [] : commandsOf(world, channel.guild_id);
  const global = commandsOf(world, null).filter(
    (command) => !own.some((one) => one.name === command.name && one.type === command.type),
  );
  return [...own, ...global].filter((command) => isOffered(world, command, channel, userId));
}

function isOffered(world: World, command: Command, channel: Channel, userId: string): boolean {
  const { body } = command;
  if (channel.guild_id === null) {
    const contexts = body["contexts"];
    return body["dm_permission"] !== false && (!Array.isArray(contexts) || contexts.includes(1));
  }
  if (Array.isArray(body["contexts"]) && !body["contexts"].includes(0)) return false;
  const needed = body["default_member_permissions"];
  const guild = world.guilds.get(channel.guild_id);
  if (needed === undefined || needed === null || guild === undefined) return true;
  const bits = BigInt(textOf(needed));
  return bits !== 0n && (basePermissions(guild, userId) & bits) === bits;
}

/** The command of that name and type as it is offered; `memory list` names a subcommand. */
export function findCommand(
  world: World,
  channel: Channel,
  userId: string,
  wanted: { name: string; type: Command["type"] },
): { command: Command; words: string[] } {
  const [whole] = [wanted.name.replace(/^\//, "")];
  const offered = offeredCommands(world, channel, userId).filter((command) => command.type === wanted.type);
  const words = wanted.type === 1 ? whole.split(" ") : [whole];
  const command = offered.find((one) => one.name === words[0]);
  if (command !== undefined) return { command, words: words.slice(1) };
  const names = offered.map((one) => one.name).join(", ");
  throw new NotPossible(`There is no command ${whole} here; there is ${names === "" ? "none" : names}.`);
}

export interface Invocation {
  world: World;
  channel: Channel;
  command: Command;
  words: readonly string[];
  values: OptionValues;
  /** The option that the person types in; null for a finished command. */
  focused: string | null;
}

/** The data of a command interaction. Throws `NotPossible` for options that are unknown, missing or of another type. */
export function commandData(call: Invocation): JsonObject {
  const { command, words } = call;
  const resolved: JsonObject = {};
  const options = nestedOptions(call, objectsIn(command.body["options"]), [...words], resolved);
  return {
    id: command.id,
    name: command.name,
    type: command.type,
    ...(command.guild_id === null ? {} : { guild_id: command.guild_id }),
    ...(options.length > 0 ? { options } : {}),
    ...(Object.keys(resolved).length > 0 ? { resolved } : {}),
  };
}

function nestedOptions(
  call: Invocation,
  definitions: JsonObject[],
  words: string[],
  resolved: JsonObject,
): JsonObject[] {
  const nested = definitions.filter((one) => one["type"] === OPTION.subcommand || one["type"] === OPTION.group);
  if (nested.length === 0) return plainOptions(call, definitions, resolved);
  const word = words.shift();
  const chosen = nested.find((one) => one["name"] === word);
  const names = nested.map((one) => textOf(one["name"])).join(", ");
  if (chosen === undefined) throw new NotPossible(`/${call.command.name} needs one of ${names}.`);
  const options = nestedOptions(call, objectsIn(chosen["options"]), words, resolved);
  return [{ name: textOf(chosen["name"]), type: chosen["type"] ?? 1, options }];
}

function plainOptions(call: Invocation, definitions: JsonObject[], resolved: JsonObject): JsonObject[] {
  const names = definitions.map((one) => textOf(one["name"]));
  const unknown = Object.keys(call.values).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new NotPossible(`/${call.command.name} has no option ${unknown}; it has ${names.join(", ")}.`);
  }
  return definitions.flatMap((definition) => {
    const name = textOf(definition["name"]);
    const value = call.values[name];
    if (value === undefined) {
      if (definition["required"] === true && call.focused === null) throw new NotPossible(`${name} is required.`);
      return [];
    }
    const isFocused = call.focused === name;
    const answered = isFocused ? plainValue(value) : optionValue(call, definition, value, resolved);
    return [{ name, type: definition["type"] ?? 3, value: answered, ...(isFocused ? { focused: true } : {}) }];
  });
}

function plainValue(value: OptionValue): JsonValue {
  return typeof value === "object" ? value.filename : value;
}

function optionValue(call: Invocation, definition: JsonObject, value: OptionValue, resolved: JsonObject): JsonValue {
  const name = textOf(definition["name"]);
  if (definition["type"] === OPTION.attachment) return attachmentValue(call, name, value, resolved);
  if (typeof value === "object") throw new NotPossible(`${name} takes no file.`);
  if (typeof value === "string" && [OPTION.user, OPTION.channel, OPTION.role].includes(Number(definition["type"]))) {
    const id = idOf(call.world, Number(definition["type"]), value);
    resolveId(call.world, id, resolved);
    return id;
  }
  requireChoice(definition, value);
  requireRange(definition, value);
  return value;
}

function idOf(world: World, type: number, value: string): string {
  if (type === OPTION.user) return findUser(world, value).id;
  return type === OPTION.channel ? findChannel(world, value).id : value;
}

function attachmentValue(call: Invocation, name: string, value: OptionValue, resolved: JsonObject): string {
  if (typeof value !== "object") throw new NotPossible(`${name} needs a file.`);
  const file = keepGivenFile(call.world, value);
  const channelId = call.channel.id;
  const link = attachmentPayload(call.world, channelId, file);
  addResolved(resolved, "attachments", file.id, { ...link, ephemeral: true });
  return file.id;
}

function requireChoice(definition: JsonObject, value: string | number | boolean): void {
  const choices = objectsIn(definition["choices"]);
  if (choices.length === 0 || choices.some((choice) => choice["value"] === value)) return;
  const list = choices.map((choice) => textOf(choice["value"])).join(", ");
  throw new NotPossible(`${textOf(definition["name"])} is one of ${list}.`);
}

function requireRange(definition: JsonObject, value: string | number | boolean): void {
  const name = textOf(definition["name"]);
  const isText = definition["type"] === OPTION.string;
  if (isText !== (typeof value === "string") && typeof value !== "boolean") {
    throw new NotPossible(`${name} takes ${isText ? "text" : "a number"}.`);
  }
  const size = typeof value === "string" ? value.length : Number(value);
  const min = definition[isText ? "min_length" : "min_value"];
  const max = definition[isText ? "max_length" : "max_value"];
  if (typeof min === "number" && size < min) throw new NotPossible(`${name} is below ${min}.`);
  if (typeof max === "number" && size > max) throw new NotPossible(`${name} is above ${max}.`);
}
