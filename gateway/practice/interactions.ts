import { randomBytes } from "node:crypto";
import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { isJsonObject } from "../../src/protocol/json.ts";
import { checkAutocompleteChoices } from "./check/commands.ts";
import { numberComponents } from "./check/components.ts";
import { FLAG } from "./check/message.ts";
import { checkModal } from "./check/modal.ts";
import { emit } from "./events.ts";
import { createForm, failure } from "./failure.ts";
import { FILE_BYTES_MAX } from "./files.ts";
import type { Upload } from "./files.ts";
import { editMessage, storeMessage, writeMessage } from "./messages.ts";
import type { Channel, Interaction, InteractionResult, Message, World } from "./model.ts";
import { channelPayload, memberPayload, messagePayload, permissionsPayload, userPayload } from "./payloads.ts";
import { channelOf, guildOf, keepInteraction, messageOf, newSnowflake, TOKEN_LIFETIME_MS, userOf } from "./world.ts";
import { textOf } from "./json.ts";

/** Callback types. */
const CALLBACK = { message: 4, defer: 5, defer_update: 6, update: 7, choices: 8, modal: 9 } as const;

const COMMAND = 2;
const COMPONENT_PRESS = 3;
const AUTOCOMPLETE = 4;

export interface NewInteraction {
  type: Interaction["type"];
  user_id: string;
  channel: Channel;
  command_name?: string;
  /** The interaction that opened the form which is submitted. */
  triggered_by?: string;
  /** The message that holds the component, or that the form's component was on. */
  message?: Message | null;
  data: JsonObject;
}

/** Tells the bot of an interaction and answers what it did first, or that it did nothing within the deadline. */
export function openInteraction(
  world: World,
  input: NewInteraction,
): Promise<{ interaction: Interaction; result: InteractionResult }> {
  const interaction: Interaction = {
    id: newSnowflake(world),
    token: randomBytes(96).toString("base64url"),
    type: input.type,
    user_id: input.user_id,
    channel_id: input.channel.id,
    guild_id: input.channel.guild_id,
    created_at: world.now(),
    command_name: input.command_name ?? null,
    message_id: input.message?.id ?? null,
    triggered_by: input.triggered_by ?? null,
    result: null,
    waiting_for_content: false,
    original_id: null,
    expired: false,
  };
  keepInteraction(world, interaction);
  const answered = firstResult(world, interaction);
  emit(world, "INTERACTION_CREATE", interactionPayload(world, interaction, input), null);
  return answered.then((result) => ({ interaction, result }));
}

function firstResult(world: World, interaction: Interaction): Promise<InteractionResult> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      settle(world, interaction, { outcome: "failed", text: failureText(interaction) });
    }, world.ack_deadline_ms);
    timer.unref();
    const leave = world.changes.subscribe(() => {
      if (interaction.result === null) return;
      clearTimeout(timer);
      leave();
      resolve(interaction.result);
    });
  });
}

function failureText(interaction: Interaction): string {
  return interaction.type === COMMAND ? "The application did not respond" : "This interaction failed";
}

function settle(world: World, interaction: Interaction, result: InteractionResult): void {
  interaction.result = result;
  world.changes.emit({ kind: "interaction", interaction_id: interaction.id });
}

function interactionPayload(world: World, interaction: Interaction, input: NewInteraction): JsonObject {
  const { channel } = input;
  return {
    id: interaction.id,
    application_id: world.bot_id,
    type: interaction.type,
    token: interaction.token,
    version: 1,
    channel_id: channel.id,
    channel: {
      ...channelPayload(world, channel),
      permissions: permissionsPayload(world, channel, interaction.user_id),
    },
    locale: "en-US",
    entitlements: [],
    entitlement_sku_ids: [],
    app_permissions: permissionsPayload(world, channel, world.bot_id),
    authorizing_integration_owners: { "0": channel.guild_id ?? "0" },
    context: channel.guild_id === null ? 1 : 0,
    attachment_size_limit: FILE_BYTES_MAX,
    data: input.data,
    ...whoPayload(world, interaction, channel),
    ...(input.message ? { message: messagePayload(world, input.message) } : {}),
  };
}

function whoPayload(world: World, interaction: Interaction, channel: Channel): JsonObject {
  if (channel.guild_id === null) return { user: userPayload(userOf(world, interaction.user_id)) };
  const guild = guildOf(world, channel.guild_id);
  const member = memberPayload(world, guild, interaction.user_id, true) ?? {};
  return {
    guild_id: guild.id,
    guild: { id: guild.id, locale: "en-US", features: [] },
    guild_locale: "en-US",
    member: { ...member, permissions: permissionsPayload(world, channel, interaction.user_id) },
  };
}

/** The interaction that a callback names, if it still waits for its first answer. */
export function waitingInteraction(world: World, id: string, token: string): Interaction {
  const interaction = world.interactions.get(id);
  if (interaction === undefined || interaction.token !== token) throw failure("unknown_interaction");
  if (interaction.result?.outcome === "failed") throw failure("unknown_interaction");
  if (interaction.result !== null) throw failure("already_acknowledged");
  return interaction;
}

/** The interaction behind a webhook call, if it was acknowledged and its token still works. */
export function acknowledgedInteraction(world: World, token: string): Interaction {
  const interaction = [...world.interactions.values()].find((one) => one.token === token);
  if (interaction === undefined || interaction.result === null || interaction.result.outcome === "failed") {
    throw failure("unknown_webhook");
  }
  if (interaction.expired || world.now() - interaction.created_at > TOKEN_LIFETIME_MS) throw failure("expired_token");
  return interaction;
}

/** The bot's first answer. Returns the message it made or changed, if any. */
export function answerInteraction(
  world: World,
  interaction: Interaction,
  body: JsonObject,
  files: readonly Upload[],
): Message | null {
  const type = callbackType(interaction, body);
  const data = isJsonObject(body["data"]) ? body["data"] : {};
  switch (type) {
    case CALLBACK.message:
      return answerWithMessage(world, interaction, data, files);
    case CALLBACK.defer:
      return deferMessage(world, interaction, data);
    case CALLBACK.defer_update:
      interaction.original_id = interaction.message_id;
      settle(world, interaction, { outcome: "acknowledged" });
      return null;
    case CALLBACK.update:
      return answerWithUpdate(world, interaction, data, files);
    case CALLBACK.choices:
      checkAutocompleteChoices(data);
      settle(world, interaction, { outcome: "choices", choices: choicesOf(data) });
      return null;
    default:
      checkModal(data);
      settle(world, interaction, { outcome: "modal", modal: modalOf(data) });
      return null;
  }
}

function callbackType(interaction: Interaction, body: JsonObject): number {
  const type = body["type"];
  const allowed = allowedCallbacks(interaction);
  if (typeof type === "number" && allowed.includes(type)) return type;
  const form = createForm();
  form.add(["type"], "BASE_TYPE_CHOICES", `Value must be one of {${allowed.join(", ")}}.`);
  form.finish();
  throw new Error("A form with an error did not refuse.");
}

function allowedCallbacks(interaction: Interaction): number[] {
  if (interaction.type === AUTOCOMPLETE) return [CALLBACK.choices];
  const messages: number[] = [CALLBACK.message, CALLBACK.defer];
  if (interaction.message_id !== null) messages.push(CALLBACK.defer_update, CALLBACK.update);
  if (interaction.type === COMMAND || interaction.type === COMPONENT_PRESS) messages.push(CALLBACK.modal);
  return messages;
}

function answerWithMessage(
  world: World,
  interaction: Interaction,
  data: JsonObject,
  files: readonly Upload[],
): Message {
  const message = writeAnswer(world, interaction, data, files, ["data"]);
  interaction.original_id = message.id;
  settle(world, interaction, { outcome: "message", message_id: message.id, ephemeral: isEphemeral(message) });
  return message;
}

function deferMessage(world: World, interaction: Interaction, data: JsonObject): Message {
  const flags = typeof data["flags"] === "number" ? data["flags"] : 0;
  const ephemeral = (flags & FLAG.ephemeral) !== 0;
  const message = storeMessage(world, {
    channel: channelOf(world, interaction.channel_id),
    author_id: world.bot_id,
    type: 20,
    flags: FLAG.loading | (ephemeral ? FLAG.ephemeral : 0),
    interaction_id: interaction.id,
    ephemeral_for: ephemeral ? interaction.user_id : null,
  });
  interaction.original_id = message.id;
  interaction.waiting_for_content = true;
  settle(world, interaction, { outcome: "deferred", ephemeral });
  return message;
}

function answerWithUpdate(world: World, interaction: Interaction, data: JsonObject, files: readonly Upload[]): Message {
  const message = originalById(world, interaction, interaction.message_id);
  editMessage(world, { message, body: data, files, surface: "interaction", path: ["data"] });
  interaction.original_id = message.id;
  settle(world, interaction, { outcome: "updated", message_id: message.id });
  return message;
}

/** A later message of the interaction; the first one after a deferral fills the waiting message. */
export function followUp(world: World, interaction: Interaction, body: JsonObject, files: readonly Upload[]): Message {
  if (interaction.waiting_for_content) {
    return editAnswer(world, interaction, interaction.original_id ?? "", body, files);
  }
  const message = writeAnswer(world, interaction, body, files, []);
  interaction.original_id ??= message.id;
  return message;
}

/** Changes a message of the interaction; `@original` is the first answer or the message with the component. */
export function editAnswer(
  world: World,
  interaction: Interaction,
  messageId: string,
  body: JsonObject,
  files: readonly Upload[],
): Message {
  const message = answerOf(world, interaction, messageId);
  editMessage(world, { message, body, files, surface: "interaction" });
  if (message.id === interaction.original_id) interaction.waiting_for_content = false;
  return message;
}

/** A message that the interaction's token can reach. */
export function answerOf(world: World, interaction: Interaction, messageId: string): Message {
  const id = messageId === "@original" ? interaction.original_id : messageId;
  const message = originalById(world, interaction, id);
  const isOwn = message.interaction_id === interaction.id || message.id === interaction.message_id;
  if (!isOwn) throw failure("unknown_message");
  return message;
}

function originalById(world: World, interaction: Interaction, id: string | null): Message {
  const own = world.ephemeral.get(id ?? "");
  return own ?? messageOf(world, interaction.channel_id, id ?? "");
}

function writeAnswer(
  world: World,
  interaction: Interaction,
  body: JsonObject,
  files: readonly Upload[],
  path: readonly string[],
): Message {
  const flags = typeof body["flags"] === "number" ? body["flags"] : 0;
  return writeMessage(world, {
    channel: channelOf(world, interaction.channel_id),
    body,
    files,
    surface: "interaction",
    path,
    interaction_id: interaction.id,
    ephemeral_for: (flags & FLAG.ephemeral) === 0 ? null : interaction.user_id,
  });
}

function isEphemeral(message: Message): boolean {
  return message.ephemeral_for !== null;
}

function choicesOf(data: JsonObject): { name: string; value: string | number }[] {
  const list: JsonValue[] = Array.isArray(data["choices"]) ? data["choices"] : [];
  return list.filter(isJsonObject).map((choice) => ({
    name: textOf(choice["name"]),
    value: typeof choice["value"] === "number" ? choice["value"] : textOf(choice["value"]),
  }));
}

function modalOf(data: JsonObject): { custom_id: string; title: string; components: JsonObject[] } {
  const components = Array.isArray(data["components"]) ? data["components"] : [];
  return {
    custom_id: textOf(data["custom_id"]),
    title: textOf(data["title"]),
    components: numberComponents(components),
  };
}

/** What `with_response=true` answers. */
export function callbackPayload(
  world: World,
  interaction: Interaction,
  type: number,
  message: Message | null,
): JsonObject {
  const about: JsonObject = {
    id: interaction.id,
    type: interaction.type,
    channel_id: interaction.channel_id,
    ...(interaction.guild_id === null ? {} : { guild_id: interaction.guild_id }),
  };
  if (message === null) return { interaction: about };
  return {
    interaction: {
      ...about,
      response_message_id: message.id,
      response_message_loading: (message.flags & FLAG.loading) !== 0,
      response_message_ephemeral: isEphemeral(message),
    },
    // A deferral makes a message too, but only message and update answers carry it.
    ...(type === CALLBACK.message || type === CALLBACK.update || type === CALLBACK.defer
      ? { resource: { type: type === CALLBACK.defer ? CALLBACK.defer : type, message: messagePayload(world, message) } }
      : {}),
  };
}
