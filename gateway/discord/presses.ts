import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ComponentType,
  InteractionResponseType,
  InteractionType,
  MessageFlags,
  Routes,
} from "discord.js";
import type {
  APIApplicationCommandInteractionDataOption,
  APIAttachment,
  APIInteraction,
  APIMessage,
  Client,
} from "discord.js";
import type { Clock } from "../../src/lib/clock.ts";
import type { Log } from "../../src/lib/log.ts";
import type { ChannelPlace, InboundAttachment, Press, SuggestRequest } from "../channel_adapter.ts";
import type { View } from "../render/view.ts";
import { failureOf } from "./failures.ts";
import { inboundAttachment, inboundMessage, personOf, type MessageReader } from "./messages.ts";
import { formPayload, payloadOf, type Payload } from "./payload.ts";

/** Discord lets a token answer for fifteen minutes; the last one is left out for the way there. */
const TOKEN_LIFETIME_MS = 14 * 60_000;

export interface PressDependencies extends MessageReader {
  client: Client<true>;
  clock: Clock;
  log: Log;
  /** A message in a channel, where a token cannot answer any more. */
  post(channel_id: string, view: View): Promise<void>;
  /** The same, to one person by DM. */
  postPrivately(user_id: string, view: View): Promise<void>;
}

/** What stands in an interaction, whichever kind it is. */
interface Pressed {
  kind: Press["kind"];
  id: string;
  message_id: string | null;
  target: APIMessage | null;
  values: Map<string, string>;
  choices: Map<string, string[]>;
  chosen: string[];
  file: InboundAttachment | null;
}

/** An interaction in all platforms' words; null for kinds that we do not offer. */
export function pressOf(dependencies: PressDependencies, raw: APIInteraction, place: ChannelPlace): Press | null {
  const pressed = readInteraction(raw);
  const user = raw.member?.user ?? raw.user;
  if (pressed === null || user === undefined) return null;
  const { kind, id, message_id, target, values, choices, chosen, file } = pressed;
  return {
    kind,
    id,
    message_id,
    message: target === null ? null : inboundMessage(dependencies, target, place),
    values,
    choices,
    chosen,
    file,
    place,
    person: personOf(dependencies, user, raw.member, place.guild_id),
    ...answers(dependencies, raw, place, user.id),
  };
}

/** What a person types in an option that has suggestions. */
export function suggestRequestOf(
  reader: MessageReader,
  raw: APIInteraction,
  place: ChannelPlace,
): SuggestRequest | null {
  const user = raw.member?.user ?? raw.user;
  if (raw.type !== InteractionType.ApplicationCommandAutocomplete || user === undefined) return null;
  const { name, options } = flattenCommand(raw.data.name, raw.data.options ?? []);
  const focused = options.find((option) => "focused" in option && option.focused);
  if (focused === undefined || !("value" in focused)) return null;
  return {
    command: name,
    option: focused.name,
    typed: String(focused.value),
    person: personOf(reader, user, raw.member, place.guild_id),
    place,
  };
}

function readInteraction(raw: APIInteraction): Pressed | null {
  const values = new Map<string, string>();
  const choices = new Map<string, string[]>();
  const nothing = { message_id: null, target: null, values, choices, chosen: [], file: null };
  switch (raw.type) {
    case InteractionType.MessageComponent: {
      const about = { ...nothing, id: raw.data.custom_id, message_id: raw.message.id };
      if (raw.data.component_type === ComponentType.Button) return { ...about, kind: "button" };
      return raw.data.component_type === ComponentType.StringSelect
        ? { ...about, kind: "menu", chosen: raw.data.values }
        : null;
    }
    case InteractionType.ModalSubmit:
      return {
        ...nothing,
        kind: "form",
        id: raw.data.custom_id,
        message_id: raw.message?.id ?? null,
        ...fieldsOf(raw.data.components),
      };
    case InteractionType.ApplicationCommand: {
      if (raw.data.type === ApplicationCommandType.Message) {
        const target = raw.data.resolved.messages[raw.data.target_id] ?? null;
        return { ...nothing, kind: "message_command", id: raw.data.name, message_id: raw.data.target_id, target };
      }
      if (raw.data.type !== ApplicationCommandType.ChatInput) return null;
      const { name, options } = flattenCommand(raw.data.name, raw.data.options ?? []);
      const given = options.flatMap((option): [string, string][] =>
        "value" in option ? [[option.name, String(option.value)]] : [],
      );
      const attachment = options.find((option) => option.type === ApplicationCommandOptionType.Attachment);
      const files: Record<string, APIAttachment> = raw.data.resolved?.attachments ?? {};
      const file = attachment !== undefined && "value" in attachment ? files[attachment.value] : undefined;
      return {
        ...nothing,
        kind: "command",
        id: name,
        values: new Map(given),
        file: file === undefined ? null : inboundAttachment(file),
      };
    }
    default:
      return null;
  }
}

function flattenCommand(
  name: string,
  options: readonly APIApplicationCommandInteractionDataOption[],
): { name: string; options: readonly APIApplicationCommandInteractionDataOption[] } {
  const first = options[0];
  if (first?.type !== ApplicationCommandOptionType.Subcommand) return { name, options };
  return { name: `${name} ${first.name}`, options: first.options ?? [] };
}

/** Fields of a form, wherever they stand in it. */
function fieldsOf(components: unknown): Pick<Pressed, "values" | "choices"> {
  const values = new Map<string, string>();
  const choices = new Map<string, string[]>();
  const walk = (part: unknown): void => {
    if (Array.isArray(part)) for (const inner of part) walk(inner);
    if (typeof part !== "object" || part === null) return;
    if ("custom_id" in part && "value" in part) values.set(String(part.custom_id), String(part.value));
    if ("custom_id" in part && "values" in part && Array.isArray(part.values)) {
      choices.set(String(part.custom_id), part.values.map(String));
    }
    if ("component" in part) walk(part.component);
    if ("components" in part) walk(part.components);
  };
  walk(components);
  return { values, choices };
}

/** An interaction's token. Using it late or twice is logged and answers false. */
interface Token {
  /** The first reaction. */
  callback(type: InteractionResponseType, data?: unknown, files?: Payload["files"]): Promise<boolean>;
  /** Replaces the deferred answer, or adds one. */
  say(view: View, options: { private: boolean; replaces: boolean }): Promise<boolean>;
}

function tokenOf({ client, log }: PressDependencies, raw: APIInteraction): Token {
  const works = async (request: () => Promise<unknown>): Promise<boolean> => {
    try {
      await request();
      return true;
    } catch (error) {
      const { reason, detail } = failureOf(error);
      log.warn("press.not_answered", { reason, detail });
      return false;
    }
  };
  return {
    callback: (type, data, files = []) =>
      works(() => {
        const body = data === undefined ? { type } : { type, data };
        return client.rest.post(Routes.interactionCallback(raw.id, raw.token), { body, files, auth: false });
      }),
    say: (view, { private: is_private, replaces }) =>
      works(() => {
        const payload = { ...payloadOf(view, is_private ? MessageFlags.Ephemeral : 0), auth: false };
        return replaces
          ? client.rest.patch(Routes.webhookMessage(client.application.id, raw.token), payload)
          : client.rest.post(Routes.webhook(client.application.id, raw.token), payload);
      }),
  };
}

/** The four things that can be done with an interaction. */
function answers(
  dependencies: PressDependencies,
  raw: APIInteraction,
  place: ChannelPlace,
  user_id: string,
): Pick<Press, "defer" | "acknowledge" | "answer" | "openForm"> {
  const { clock } = dependencies;
  const token = tokenOf(dependencies, raw);
  const started = clock.now();
  let state: "new" | "deferred" | "acknowledged" | "answered" | "lost" = "new";
  return {
    async defer({ private: is_private }) {
      const data = is_private ? { flags: MessageFlags.Ephemeral } : {};
      const seen = await token.callback(InteractionResponseType.DeferredChannelMessageWithSource, data);
      state = seen ? "deferred" : "lost";
    },
    async acknowledge() {
      state = (await token.callback(InteractionResponseType.DeferredMessageUpdate)) ? "acknowledged" : "lost";
    },
    async answer(view, options) {
      const is_private = options?.private ?? true;
      const alive = state !== "lost" && clock.now() - started < TOKEN_LIFETIME_MS;
      const { body, files } = payloadOf(view, is_private ? MessageFlags.Ephemeral : 0);
      const said =
        state === "new"
          ? await token.callback(InteractionResponseType.ChannelMessageWithSource, body, files)
          : alive && (await token.say(view, { private: is_private, replaces: state === "deferred" }));
      if (said) state = "answered";
      // What was meant for one person alone goes to that person alone.
      else if (is_private) await dependencies.postPrivately(user_id, view);
      else await dependencies.post(place.channel_id, view);
    },
    async openForm(form) {
      state = (await token.callback(InteractionResponseType.Modal, formPayload(form))) ? "answered" : "lost";
    },
  };
}
