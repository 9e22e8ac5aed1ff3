import type { JsonObject } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { COMPONENT } from "../check/components.ts";
import { CONTENT_MAX } from "../check/message.ts";
import { publishReaction, publishTyping } from "../events.ts";
import { DiscordFailure } from "../failure.ts";
import { openInteraction } from "../interactions.ts";
import type { NewInteraction } from "../interactions.ts";
import { markEdited, removeMessage, requireCanSend, snapshotOf, storeMessage, updateMentions } from "../messages.ts";
import type { Channel, Command, InteractionResult, Message, MessageReference, Modal, User, World } from "../model.ts";
import { memberPayload, messagePayload, userPayload } from "../payloads.ts";
import { may } from "../permissions.ts";
import { createThread, directChannel } from "../threads.ts";
import { visibleTo } from "../world.ts";
import { commandData, findCommand, offeredCommands } from "./commands.ts";
import type { OptionValues } from "./commands.ts";
import { NotPossible, findComponent, findMessage, findUser, visibleChannel } from "./find.ts";
import type { Ref } from "./find.ts";
import { keepGivenFile, selection, submission } from "./forms.ts";
import type { FieldValue, GivenFile } from "./forms.ts";
import { channelAsText } from "./text.ts";

/** What else a message can have. */
export interface SayOptions {
  reply_to?: Ref;
  /** Whether a reply pings its author, as the client does unless told otherwise. */
  ping?: boolean;
  attachments?: readonly GivenFile[];
  /** A message to forward; the content is then empty. */
  forward?: Ref;
  stickers?: readonly string[];
  /** The question of a poll. */
  poll?: string;
}

/** The message that an interaction made or changed; it changes with later edits. */
type AnswerMessage = { interaction_id: string; message: Message };

/** What the person sees first after pressing, choosing, commanding or submitting. */
export type Answer =
  | (AnswerMessage & { outcome: "message"; ephemeral: boolean })
  | (AnswerMessage & { outcome: "deferred"; ephemeral: boolean })
  | (AnswerMessage & { outcome: "updated" })
  | { outcome: "acknowledged"; interaction_id: string }
  | { outcome: "modal"; interaction_id: string; modal: Modal; message: Message | null; channel_id: string }
  | { outcome: "choices"; interaction_id: string; choices: { name: string; value: string | number }[] }
  | { outcome: "failed"; interaction_id: string; text: string };

/** A form that is open in front of somebody. */
export type OpenModal = Extract<Answer, { outcome: "modal" }>;

/**
 * What one person can do and see. Channels and people are named by id or name. Throws `NotPossible` where the client
 * would not offer it.
 */
export interface Person {
  readonly id: string;
  readonly name: string;
  say(channel: Ref, content: string, options?: SayOptions): Message;
  edit(message: Ref, content: string): Message;
  remove(message: Ref): void;
  react(message: Ref, emoji: string): void;
  type(channel: Ref): void;
  /** Opens a thread, on a message or in a channel or forum. */
  startThread(channel: Ref, options: { name: string; message?: Ref; first_message?: string }): Channel;
  /** The direct message with the bot. */
  openDm(): Channel;
  /** Presses a button, named by its custom id or its label. */
  press(message: Ref, button: string): Promise<Answer>;
  select(message: Ref, custom_id: string, values: readonly string[]): Promise<Answer>;
  submit(modal: OpenModal, values: Readonly<Record<string, FieldValue>>): Promise<Answer>;
  /** A slash command; `memory list` names a subcommand. */
  slash(channel: Ref, name: string, options?: OptionValues): Promise<Answer>;
  /** What the bot offers for the option that the person types in. */
  autocomplete(channel: Ref, name: string, options: OptionValues, focused: string): Promise<Answer>;
  /** A command of a message's menu. */
  messageCommand(message: Ref, name: string): Promise<Answer>;
  /** A command of a person's menu. */
  userCommand(channel: Ref, user: Ref, name: string): Promise<Answer>;
  /** Commands that the client offers here. */
  commands(channel: Ref): Command[];
  /** Everything in a channel, with ephemeral messages of this person. */
  sees(channel: Ref): Message[];
  channelAsText(channel: Ref): string;
}

/** The hands and eyes of one user. */
export function personOf(world: World, ref: Ref): Person {
  const user = findUser(world, ref);
  return {
    id: user.id,
    name: user.global_name,
    ...writing(world, user),
    ...interacting(world, user),
    ...seeing(world, user),
  };
}

function seeing(world: World, user: User): Pick<Person, "commands" | "sees" | "channelAsText" | "openDm" | "type"> {
  return {
    commands: (channel) => offeredCommands(world, visibleChannel(world, channel, user.id), user.id),
    sees: (channel) => visibleTo(world, visibleChannel(world, channel, user.id).id, user.id),
    channelAsText: (channel) => channelAsText(world, visibleChannel(world, channel, user.id), user.id),
    openDm: () => directChannel(world, user.id),
    type: (channel) => publishTyping(world, visibleChannel(world, channel, user.id), user.id),
  };
}

function writing(world: World, user: User): Pick<Person, "say" | "edit" | "remove" | "react" | "startThread"> {
  return {
    say: (channel, content, options = {}) =>
      say(world, user, visibleChannel(world, channel, user.id), content, options),
    edit(ref, content) {
      const message = findMessage(world, ref, user.id);
      if (message.author_id !== user.id) throw new NotPossible("You can edit your own messages only.");
      requireLength(content);
      message.content = content;
      updateMentions(world, message, undefined);
      markEdited(world, message);
      return message;
    },
    remove(ref) {
      const message = findMessage(world, ref, user.id);
      const channel = visibleChannel(world, message.channel_id, user.id);
      const own = message.author_id === user.id || message.ephemeral_for === user.id;
      if (!own && !may(world, channel, user.id, "manage_messages")) {
        throw new NotPossible("You can delete your own messages only.");
      }
      removeMessage(world, message);
    },
    react(ref, emoji) {
      const message = findMessage(world, ref, user.id);
      const users = message.reactions.get(emoji) ?? new Set<string>();
      message.reactions.set(emoji, users.add(user.id));
      publishReaction(world, "ADD", message, emoji, user.id);
    },
    startThread: (channel, options) => startThread(world, user, visibleChannel(world, channel, user.id), options),
  };
}

function say(world: World, user: User, channel: Channel, content: string, options: SayOptions): Message {
  requireLength(content);
  asPerson(() => requireCanSend(world, channel, user.id));
  const reply = options.reply_to === undefined ? null : findMessage(world, options.reply_to, user.id);
  const forwarded = options.forward === undefined ? null : findMessage(world, options.forward, user.id);
  const attachments = (options.attachments ?? []).map((file) => keepGivenFile(world, file));
  const stickers = (options.stickers ?? []).map((name, index) => ({
    id: String(index + 1),
    name,
    format_type: 1 as const,
  }));
  const something = attachments.length + stickers.length > 0 || forwarded !== null || options.poll !== undefined;
  if (content.trim() === "" && !something) throw new NotPossible("An empty message cannot be sent.");
  const reference = referenceTo(channel, reply ?? forwarded, forwarded === null ? 0 : 1);
  return storeMessage(world, {
    channel,
    author_id: user.id,
    type: reply === null ? 0 : 19,
    content: content.trim(),
    attachments,
    stickers,
    reference,
    snapshot: snapshotOf(world, reference),
    flags: forwarded === null ? 0 : 1 << 14,
    poll: options.poll === undefined ? null : pollOf(world, options.poll),
    ...(options.ping === false
      ? { allowed_mentions: { parse: ["users", "roles", "everyone"], replied_user: false } }
      : {}),
  });
}

function referenceTo(channel: Channel, target: Message | null, type: 0 | 1): MessageReference | null {
  if (target === null) return null;
  return { type, channel_id: target.channel_id, message_id: target.id, guild_id: channel.guild_id };
}

/** A day, as polls last unless told otherwise. */
const POLL_MS = 24 * 60 * 60_000;

function pollOf(world: World, question: string): JsonObject {
  const answers = ["yes", "no"].map((text, index) => ({ answer_id: index + 1, poll_media: { text } }));
  return {
    question: { text: question },
    answers,
    expiry: new Date(world.now() + POLL_MS).toISOString(),
    allow_multiselect: false,
    layout_type: 1,
    results: { answer_counts: [], is_finalized: false },
  };
}

function requireLength(content: string): void {
  if (content.length > CONTENT_MAX) throw new NotPossible(`A message has at most ${CONTENT_MAX} characters.`);
}

/** What the client would show instead of Discord's refusal. */
function asPerson<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof DiscordFailure) throw new NotPossible(`That is not possible here: ${error.message}.`);
    throw error;
  }
}

function startThread(
  world: World,
  user: User,
  parent: Channel,
  options: { name: string; message?: Ref; first_message?: string },
): Channel {
  const on = options.message === undefined ? null : findMessage(world, options.message, user.id);
  if (on !== null && world.channels.has(on.id)) throw new NotPossible("This message has a thread already.");
  const thread = createThread(world, {
    ...(on === null ? {} : { id: on.id }),
    parent,
    name: options.name,
    type: 11,
    owner_id: user.id,
  });
  if (options.first_message !== undefined) say(world, user, thread, options.first_message, {});
  return thread;
}

function interacting(
  world: World,
  user: User,
): Pick<Person, "press" | "select" | "submit" | "slash" | "autocomplete" | "messageCommand" | "userCommand"> {
  const run = (input: Omit<NewInteraction, "user_id">): Promise<Answer> => interact(world, user, input);
  return {
    press: async (ref, button) => run(pressOf(world, user, findMessage(world, ref, user.id), button)),
    select: async (ref, customId, values) =>
      run(selectOf(world, user, findMessage(world, ref, user.id), customId, values)),
    submit: async (open, values) => {
      const channel = visibleChannel(world, open.channel_id, user.id);
      const data = submission(world, channel.id, open.modal, values);
      return run({ type: 5, channel, message: open.message, triggered_by: open.interaction_id, data });
    },
    slash: async (ref, name, values = {}) => run(slashOf(world, user, ref, name, values, null)),
    autocomplete: async (ref, name, values, focused) => run(slashOf(world, user, ref, name, values, focused)),
    messageCommand: async (ref, name) => {
      const message = findMessage(world, ref, user.id);
      const resolved = { messages: { [message.id]: messagePayload(world, message) } };
      return run(menuOf(world, user, message.channel_id, { name, type: 3 }, message.id, resolved));
    },
    userCommand: async (ref, who, name) => {
      const target = findUser(world, who);
      const channel = visibleChannel(world, ref, user.id);
      const guild = world.guilds.get(channel.guild_id ?? "");
      const member = guild === undefined ? null : memberPayload(world, guild, target.id, false);
      const members = member === null ? {} : { members: { [target.id]: { ...member, permissions: "0" } } };
      const resolved = { users: { [target.id]: userPayload(target) }, ...members };
      return run(menuOf(world, user, channel, { name, type: 2 }, target.id, resolved));
    },
  };
}

function pressOf(world: World, user: User, message: Message, name: string): Omit<NewInteraction, "user_id"> {
  const isButton = (one: JsonObject): boolean => one["type"] === COMPONENT.button;
  const button =
    findComponent(message.components, (one) => isButton(one) && one["custom_id"] === name) ??
    findComponent(message.components, (one) => isButton(one) && one["label"] === name);
  if (button === null) throw new NotPossible(`This message has no button ${name}.`);
  if (button["disabled"] === true) throw new NotPossible(`The button ${name} is switched off.`);
  if (typeof button["custom_id"] !== "string") throw new NotPossible(`The button ${name} is a link.`);
  const data = { component_type: COMPONENT.button, custom_id: button["custom_id"], id: button["id"] ?? 0 };
  return { type: 3, channel: usableChannel(world, user, message), message, data };
}

function selectOf(
  world: World,
  user: User,
  message: Message,
  customId: string,
  values: readonly string[],
): Omit<NewInteraction, "user_id"> {
  const select = findComponent(message.components, (one) => one["custom_id"] === customId);
  if (select === null || select["type"] === COMPONENT.button) throw new NotPossible(`There is no list ${customId}.`);
  if (select["disabled"] === true) throw new NotPossible(`The list ${customId} is switched off.`);
  const resolved: JsonObject = {};
  const chosen = selection(world, select, values, resolved);
  const data = { component_type: select["type"] ?? 3, custom_id: customId, id: select["id"] ?? 0, values: chosen };
  const more = isJsonObject(resolved) && Object.keys(resolved).length > 0 ? { resolved } : {};
  return { type: 3, channel: usableChannel(world, user, message), message, data: { ...data, ...more } };
}

// In a locked or archived thread the client lets nobody press anything.
function usableChannel(world: World, user: User, message: Message): Channel {
  const channel = visibleChannel(world, message.channel_id, user.id);
  if (channel.thread?.locked === true) throw new NotPossible("This thread is locked.");
  if (channel.thread?.archived === true) throw new NotPossible("This thread is archived.");
  return channel;
}

function slashOf(
  world: World,
  user: User,
  ref: Ref,
  name: string,
  values: OptionValues,
  focused: string | null,
): Omit<NewInteraction, "user_id"> {
  const channel = visibleChannel(world, ref, user.id);
  requireCommands(world, user, channel);
  const { command, words } = findCommand(world, channel, user.id, { name, type: 1 });
  const data = commandData({ world, channel, command, words, values, focused });
  return { type: focused === null ? 2 : 4, channel, command_name: command.name, data };
}

function menuOf(
  world: World,
  user: User,
  ref: Ref,
  wanted: { name: string; type: 2 | 3 },
  targetId: string,
  resolved: JsonObject,
): Omit<NewInteraction, "user_id"> {
  const channel = visibleChannel(world, ref, user.id);
  requireCommands(world, user, channel);
  const { command } = findCommand(world, channel, user.id, wanted);
  const data = { id: command.id, name: command.name, type: command.type, target_id: targetId, resolved };
  return { type: 2, channel, command_name: command.name, data };
}

function requireCommands(world: World, user: User, channel: Channel): void {
  if (channel.thread?.archived === true) throw new NotPossible("This thread is archived.");
  if (may(world, channel, user.id, "use_application_commands")) return;
  throw new NotPossible("You may not use commands here.");
}

async function interact(world: World, user: User, input: Omit<NewInteraction, "user_id">): Promise<Answer> {
  const { interaction, result } = await openInteraction(world, { ...input, user_id: user.id });
  return answerOf(world, interaction.id, input, result);
}

function answerOf(
  world: World,
  interactionId: string,
  input: Omit<NewInteraction, "user_id">,
  result: InteractionResult,
): Answer {
  const base = { interaction_id: interactionId };
  switch (result.outcome) {
    case "message":
    case "deferred": {
      const message = storedAnswer(world, interactionId, input.channel.id);
      return { ...base, outcome: result.outcome, ephemeral: result.ephemeral, message };
    }
    case "updated":
      return { ...base, outcome: "updated", message: storedAnswer(world, interactionId, input.channel.id) };
    case "modal":
      return { ...base, ...result, message: input.message ?? null, channel_id: input.channel.id };
    case "acknowledged":
    case "choices":
    case "failed":
      return { ...base, ...result };
    default:
      return result satisfies never;
  }
}

function storedAnswer(world: World, interactionId: string, channelId: string): Message {
  const id = world.interactions.get(interactionId)?.original_id ?? "";
  const message = world.ephemeral.get(id) ?? world.messages.get(channelId)?.get(id);
  if (message === undefined) throw new Error("An answered interaction has no message.");
  return message;
}
