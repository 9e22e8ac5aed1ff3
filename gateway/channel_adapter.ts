import type { RoleName } from "./config.ts";
import type { Form, View, ViewFile } from "./render/view.ts";

/**
 * What a chat platform must be able to do. Nothing here is Discord's own; another platform is another folder that
 * implements `ChannelAdapter`.
 */

/** Why a platform did not do what it was asked. */
export const CHANNEL_FAILURES = [
  /** The message does not exist any more. */
  "message_gone",
  /** The channel, thread or person does not exist any more, or not for us. */
  "channel_gone",
  /** Archived: it must be opened again first. */
  "archived",
  "locked",
  "forbidden",
  /** The person takes no direct messages from us. */
  "closed_dms",
  /** There is a thread on this message already. */
  "thread_exists",
  "too_large",
  /** The message is old and was edited too often since: it will not change again soon. */
  "worn_out",
  /** More than the library would wait for. */
  "rate_limited",
  /** The platform does not accept this content, ever. */
  "invalid",
  /** The answer to a press came too late or twice. */
  "expired",
  /** Platform or network trouble: the same may work later. */
  "unavailable",
] as const;
export type ChannelFailure = (typeof CHANNEL_FAILURES)[number];

/** `detail` is for the log. */
export type ChannelResult<Value> = { ok: true; value: Value } | { ok: false; reason: ChannelFailure; detail: string };

/** Where something happens. */
export interface ChannelPlace {
  channel_id: string;
  kind: "channel" | "thread" | "dm" | "forum" | "voice" | "other";
  name: string;
  guild_id: string | null;
  /** Of a thread: the channel that holds it. */
  parent_channel_id: string | null;
  /** Of a thread, as far as is known. */
  is_archived: boolean;
}

/** A person on the platform. */
export interface ChannelPerson {
  id: string;
  name: string;
  /**
   * What the person's roles allow: `none` for a person without any that has a meaning, `unknown` where the platform was
   * not asked yet or does not answer, null where roles decide nothing. `unknown` allows no more than the least.
   */
  role: RoleName | "none" | "unknown" | null;
}

export interface InboundAttachment {
  filename: string;
  url: string;
  media_type: string | null;
  /** Bytes, as the platform claims. */
  size: number;
}

/** A message of a person, as it came. */
export interface InboundMessage {
  /** Sorts by time; the key under which it is accepted once. */
  id: string;
  place: ChannelPlace;
  author: ChannelPerson;
  /** With mentions of people and channels turned into names and the bot's own mention taken out. */
  text: string;
  /** True when the bot's mention was typed, not implied by a reply and not by everyone or a role. */
  mentions_us: boolean;
  /** The message that this one answers. */
  reply_to: { message_id: string; author_name: string; text: string; ours: boolean } | null;
  /** Forwarded messages, stickers, embeds and polls, put into words. */
  extras: string[];
  attachments: InboundAttachment[];
  /** When it was last changed; null if never. */
  edited_at: string | null;
  /** The id of the thread that was opened on it; null if none. */
  thread_id: string | null;
}

/** One message of a channel's history. */
export interface HistoryEntry {
  message_id: string;
  /** Null for what bots, webhooks, the platform and we ourselves wrote. */
  message: InboundMessage | null;
  /** True for a message of ours. */
  ours: boolean;
  /** The message that it answers. */
  reply_to_id: string | null;
}

/** Something that a person did beside writing: a button, a menu, a form, a command. */
export interface Press {
  kind: "button" | "menu" | "form" | "command" | "message_command";
  /** The custom id, or the command's name with its subcommand, such as `memory list`. */
  id: string;
  person: ChannelPerson;
  place: ChannelPlace;
  /** The message under which it was pressed, or at which a message command points. */
  message_id: string | null;
  /** The message at which a message command points. */
  message: InboundMessage | null;
  /** Options of a command, fields of a form. */
  values: ReadonlyMap<string, string>;
  /** What was chosen in the menus of a form. */
  choices: ReadonlyMap<string, readonly string[]>;
  /** What was chosen in a menu. */
  chosen: readonly string[];
  /** A file that came as an option. */
  file: InboundAttachment | null;
  /** Says "seen" at once; an answer follows. `private` answers are seen by this person alone. */
  defer(options: { private: boolean }): Promise<void>;
  /** Says "seen" and shows nothing. */
  acknowledge(): Promise<void>;
  /**
   * The answer: after `defer` in its place, after `acknowledge` beside it, else at once. Always works somehow: a
   * token that has run out is replaced by a plain message.
   */
  answer(view: View, options?: { private: boolean }): Promise<void>;
  /** Must be the first reaction. */
  openForm(form: Form): Promise<void>;
}

/** One thing that was looked at. `fix` is what somebody has to do; null where all is well. */
export interface Diagnosis {
  part: string;
  says: string;
  fix: string | null;
}

/** A question for suggestions while a person types a command. */
export interface SuggestRequest {
  command: string;
  option: string;
  typed: string;
  person: ChannelPerson;
  place: ChannelPlace;
}

/** What an adapter tells. None of these may throw. */
export interface ChannelHandlers {
  onMessage(message: InboundMessage): void;
  onEdited(message: InboundMessage): void;
  onDeleted(place: { channel_id: string; message_id: string }): void;
  onThreadDeleted(channel_id: string): void;
  onPress(press: Press): void;
  onSuggest(request: SuggestRequest): Promise<{ name: string; value: string }[]>;
  /** Connected afresh: events may have been missed. Also called at the start. */
  onConnected(): void;
  /** From here on something may have been missed, until all is read after the next connection. */
  onInterrupted(): void;
}

/** A command as people find it. */
export interface CommandDefinition {
  /** `chat`: typed with a slash. `message`: in a message's menu. */
  kind: "chat" | "message";
  name: string;
  description: string;
  options?: CommandOption[];
  subcommands?: { name: string; description: string; options?: CommandOption[] }[];
}

export interface CommandOption {
  name: string;
  description: string;
  required: boolean;
  type: "text" | "file";
  suggests?: boolean;
  choices?: { name: string; value: string }[];
}

export interface PostOptions {
  /** The same nonce within a few minutes gives the first message instead of a second. At most 25 characters. */
  nonce?: string;
  /** The message that it answers. */
  reply_to?: string;
}

export interface ChannelAdapter {
  /** As in routes and posted messages, such as `discord`. */
  readonly channel_type: string;
  post(channel_id: string, view: View, options?: PostOptions): Promise<ChannelResult<{ message_id: string }>>;
  edit(channel_id: string, message_id: string, view: View): Promise<ChannelResult<null>>;
  remove(channel_id: string, message_id: string): Promise<ChannelResult<null>>;
  /** The DM channel with a person. */
  openDm(user_id: string): Promise<ChannelResult<{ channel_id: string }>>;
  /** Opens a thread on a message; one that is there is taken. */
  openThread(channel_id: string, message_id: string, name: string): Promise<ChannelResult<{ channel_id: string }>>;
  renameThread(channel_id: string, name: string): Promise<ChannelResult<null>>;
  /** Archives or opens again. */
  archiveThread(channel_id: string, archived: boolean): Promise<ChannelResult<null>>;
  /** Shows for some seconds that an answer is coming. Never fails. */
  showTyping(channel_id: string): Promise<void>;
  place(channel_id: string): Promise<ChannelResult<ChannelPlace>>;
  /** The person with the role found where it is `unknown`; it stays so where the platform does not answer in time. */
  withRole(person: ChannelPerson, place: ChannelPlace, signal: AbortSignal): Promise<ChannelPerson>;
  /** Whether there is anything after this message, as far as is known without asking. */
  hasNewer(channel_id: string, after: string): "yes" | "no" | "unknown";
  /** Messages after an id, oldest first, at most `limit`. */
  history(channel_id: string, after: string, limit: number): Promise<ChannelResult<HistoryEntry[]>>;
  /** Channels in which a mention would be heard, those with the newest messages first. */
  openChannels(): ChannelPlace[];
  /** Fetches an attachment of at most `bytes_max` bytes. */
  download(attachment: InboundAttachment, bytes_max: number, signal: AbortSignal): Promise<ChannelResult<ViewFile>>;
  /** Makes the platform know exactly these commands; only differences are sent. */
  registerCommands(commands: readonly CommandDefinition[]): Promise<void>;
  /** What the bot needs of the platform, seen from a place and for a person who would be written to. */
  diagnose(place: ChannelPlace, user_id: string): Promise<Diagnosis[]>;
  /** A name's mention, such as `<@1>`. */
  mention(user_id: string): string;
  /** An id that sorts like those of messages written at this time. */
  idAt(milliseconds: number): string;
  close(): Promise<void>;
}
