import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { checkCommands } from "../check/commands.ts";
import { failure } from "../failure.ts";
import {
  acknowledgedInteraction,
  answerInteraction,
  answerOf,
  callbackPayload,
  editAnswer,
  followUp,
  waitingInteraction,
} from "../interactions.ts";
import { removeMessage } from "../messages.ts";
import type { Command, World } from "../model.ts";
import { messagePayload } from "../payloads.ts";
import { commandsOf, guildOf, newSnowflake } from "../world.ts";
import { NOTHING, ok, param, route, tokenRoute } from "./route.ts";
import type { Call, Reply, Route } from "./route.ts";
import { textOf } from "../json.ts";

/** Commands, and everything that an interaction's token opens. */
export const interactionRoutes: readonly Route[] = [
  tokenRoute("POST", "/interactions/:interaction_id/:token/callback", callback),
  tokenRoute("POST", "/webhooks/:application_id/:token", (call) => {
    const interaction = interactionOf(call);
    return ok(messagePayload(call.world, followUp(call.world, interaction, call.body, call.files)));
  }),
  tokenRoute("GET", "/webhooks/:application_id/:token/messages/:message_id", (call) =>
    ok(messagePayload(call.world, answerOf(call.world, interactionOf(call), param(call, "message_id")))),
  ),
  tokenRoute("PATCH", "/webhooks/:application_id/:token/messages/:message_id", (call) => {
    const id = param(call, "message_id");
    return ok(messagePayload(call.world, editAnswer(call.world, interactionOf(call), id, call.body, call.files)));
  }),
  tokenRoute("DELETE", "/webhooks/:application_id/:token/messages/:message_id", (call) => {
    removeMessage(call.world, answerOf(call.world, interactionOf(call), param(call, "message_id")));
    return NOTHING;
  }),
  route("GET", "/applications/:application_id/commands", listCommands),
  route("PUT", "/applications/:application_id/commands", overwriteCommands),
  route("POST", "/applications/:application_id/commands", createCommand),
  route("PATCH", "/applications/:application_id/commands/:command_id", changeCommand),
  route("DELETE", "/applications/:application_id/commands/:command_id", deleteCommand),
  route("GET", "/applications/:application_id/guilds/:guild_id/commands", listCommands),
  route("PUT", "/applications/:application_id/guilds/:guild_id/commands", overwriteCommands),
  route("POST", "/applications/:application_id/guilds/:guild_id/commands", createCommand),
  route("PATCH", "/applications/:application_id/guilds/:guild_id/commands/:command_id", changeCommand),
  route("DELETE", "/applications/:application_id/guilds/:guild_id/commands/:command_id", deleteCommand),
];

function callback(call: Call): Reply {
  const { world, body, files } = call;
  const interaction = waitingInteraction(world, param(call, "interaction_id"), param(call, "token"));
  const message = answerInteraction(world, interaction, body, files);
  if (call.query["with_response"] !== "true") return NOTHING;
  return ok(callbackPayload(world, interaction, Number(body["type"]), message));
}

function interactionOf(call: Call): ReturnType<typeof acknowledgedInteraction> {
  return acknowledgedInteraction(call.world, param(call, "token"));
}

function scopeOf(call: Call): string | null {
  const id = call.params["guild_id"];
  return id === undefined ? null : guildOf(call.world, id).id;
}

function listCommands(call: Call): Reply {
  return ok(commandsOf(call.world, scopeOf(call)).map((command) => commandPayload(call.world, command)));
}

// A command keeps its id when a new one of the same name and type takes its place.
function overwriteCommands(call: Call): Reply {
  checkCommands(call.list);
  const scope = scopeOf(call);
  const before = commandsOf(call.world, scope);
  for (const command of before) call.world.commands.delete(command.id);
  const made = call.list.filter(isJsonObject).map((body) => keepCommand(call.world, scope, body, before));
  return ok(made.map((command) => commandPayload(call.world, command)));
}

function createCommand(call: Call): Reply {
  checkCommands([call.body]);
  const scope = scopeOf(call);
  const before = commandsOf(call.world, scope);
  const command = keepCommand(call.world, scope, call.body, before);
  const replaced = before.some((one) => one.id === command.id);
  return { status: replaced ? 200 : 201, body: commandPayload(call.world, command) };
}

function changeCommand(call: Call): Reply {
  const command = commandOf(call);
  const body = { ...command.body, ...call.body };
  checkCommands([body]);
  call.world.commands.set(command.id, {
    ...command,
    name: textOf(body["name"]),
    body,
    version: newSnowflake(call.world),
  });
  return ok(commandPayload(call.world, commandOf(call)));
}

function deleteCommand(call: Call): Reply {
  call.world.commands.delete(commandOf(call).id);
  call.world.changes.emit({ kind: "guild" });
  return NOTHING;
}

function commandOf(call: Call): Command {
  const command = call.world.commands.get(param(call, "command_id"));
  if (command === undefined || command.guild_id !== scopeOf(call)) throw failure("unknown_command");
  return command;
}

function keepCommand(world: World, scope: string | null, body: JsonObject, before: readonly Command[]): Command {
  const type = body["type"] === 2 || body["type"] === 3 ? body["type"] : 1;
  const name = textOf(body["name"]);
  const known = before.find((one) => one.name === name && one.type === type);
  const command: Command = {
    id: known?.id ?? newSnowflake(world),
    version: newSnowflake(world),
    guild_id: scope,
    type,
    name,
    body,
  };
  world.commands.set(command.id, command);
  world.changes.emit({ kind: "guild" });
  return command;
}

function commandPayload(world: World, command: Command): JsonValue {
  const { body } = command;
  return {
    id: command.id,
    application_id: world.bot_id,
    version: command.version,
    type: command.type,
    name: command.name,
    name_localizations: null,
    description: typeof body["description"] === "string" ? body["description"] : "",
    description_localizations: null,
    options: body["options"] ?? [],
    default_member_permissions: body["default_member_permissions"] ?? null,
    dm_permission: body["dm_permission"] !== false,
    contexts: body["contexts"] ?? null,
    integration_types: body["integration_types"] ?? [0],
    nsfw: body["nsfw"] === true,
    ...(command.guild_id === null ? {} : { guild_id: command.guild_id }),
  };
}
