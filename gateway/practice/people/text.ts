import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { COMPONENT } from "../check/components.ts";
import { FLAG } from "../check/message.ts";
import type { Channel, Message, Modal, World } from "../model.ts";
import { displayName, historyOf, visibleTo } from "../world.ts";
import { objectsIn, textOf } from "../json.ts";

/** A channel as a reader sees it, one block of lines per message. With a person, what only they see is included. */
export function channelAsText(world: World, channel: Channel, userId: string | null): string {
  const messages = userId === null ? historyOf(world, channel.id) : visibleTo(world, channel.id, userId);
  return [channelTitle(world, channel), ...messages.map((message) => messageAsText(world, message))].join("\n");
}

function channelTitle(world: World, channel: Channel): string {
  if (channel.type === 1) {
    const person = channel.recipient_ids.find((id) => id !== world.bot_id) ?? "";
    return `DM with ${displayName(world, person, null)}`;
  }
  if (channel.thread === null) return `#${channel.name}`;
  const marks = [channel.thread.archived ? "archived" : "", channel.thread.locked ? "locked" : ""].filter(Boolean);
  return `thread ${channel.name}${marks.length > 0 ? ` (${marks.join(", ")})` : ""}`;
}

/** One message: who, text, files, embeds, cards and buttons. Mentions are shown by name. */
export function messageAsText(world: World, message: Message): string {
  const lines = [...bodyLines(world, message)];
  const beginsWithCard = lines[0]?.startsWith("| ") === true;
  const head = `${authorName(world, message)}: ${beginsWithCard ? "" : (lines.shift() ?? "")}`.trimEnd();
  const marks = [
    message.edited_at === null ? "" : "(edited)",
    message.pinned ? "(pinned)" : "",
    message.ephemeral_for === null ? "" : `(only ${displayName(world, message.ephemeral_for, null)} sees this)`,
  ].filter(Boolean);
  if (marks.length > 0) lines.push(marks.join(" "));
  return [head, ...lines.map((line) => `  ${line}`)].join("\n");
}

function authorName(world: World, message: Message): string {
  return message.webhook_name ?? displayName(world, message.author_id, null);
}

function bodyLines(world: World, message: Message): string[] {
  const lines: string[] = [];
  if ((message.flags & FLAG.loading) !== 0) lines.push("is thinking…");
  if (message.type === 21) lines.push("(the message that this thread began with)");
  if (message.reference?.type === 0 && message.type === 19) lines.push(quoteLine(world, message));
  if (message.content !== "") lines.push(...readable(world, message.content).split("\n"));
  if (message.snapshot !== null) {
    lines.push("(forwarded)", ...readable(world, textOf(message.snapshot["content"])).split("\n"));
  }
  for (const embed of message.embeds) lines.push(...embedLines(world, embed));
  for (const component of message.components) lines.push(...componentLines(world, component));
  for (const sticker of message.stickers) lines.push(`(sticker ${sticker.name})`);
  if (message.poll !== null) lines.push("(poll)");
  for (const file of message.attachments) lines.push(`(file ${file.filename}, ${file.bytes.length} bytes)`);
  for (const [emoji, users] of message.reactions) lines.push(`(${emoji} ${users.size})`);
  return lines;
}

function quoteLine(world: World, message: Message): string {
  const target = world.messages.get(message.channel_id)?.get(message.reference?.message_id ?? "");
  if (target === undefined) return "(in reply to a deleted message)";
  return `(in reply to ${authorName(world, target)}: ${readable(world, target.content).split("\n")[0]?.slice(0, 60)})`;
}

function embedLines(world: World, embed: JsonObject): string[] {
  const text = (value: JsonValue | undefined): string[] =>
    typeof value === "string" && value !== "" ? readable(world, value).split("\n") : [];
  const fields = objectsIn(embed["fields"]);
  const footer = isJsonObject(embed["footer"]) ? embed["footer"]["text"] : undefined;
  return [
    ...text(embed["title"]),
    ...text(embed["description"]),
    ...fields.flatMap((field) => text(`${textOf(field["name"])}: ${textOf(field["value"])}`)),
    ...text(footer),
  ].map((line) => `| ${line}`);
}

/**
 * A component as lines: `| ` before what is in a card, `[Label]` for a button, `<placeholder: options>` for a select.
 */
function componentLines(world: World, component: JsonObject): string[] {
  const children = objectsIn(component["components"]);
  switch (component["type"]) {
    case COMPONENT.action_row:
      return [children.map(controlText).join(" ")];
    case COMPONENT.text_display:
      return readable(world, textOf(component["content"])).split("\n");
    case COMPONENT.container:
      return children.flatMap((child) => componentLines(world, child)).map((line) => `| ${line}`);
    case COMPONENT.section: {
      const lines = children.flatMap((child) => componentLines(world, child));
      const accessory = isJsonObject(component["accessory"]) ? controlText(component["accessory"]) : "";
      return [...lines, accessory];
    }
    case COMPONENT.separator:
      return ["---"];
    case COMPONENT.file:
      return [`(file ${mediaName(component["file"])})`];
    case COMPONENT.media_gallery: {
      const items = objectsIn(component["items"]);
      return items.map((item) => `(picture ${mediaName(item["media"])})`);
    }
    default:
      return [controlText(component)];
  }
}

function controlText(component: JsonObject): string {
  const off = component["disabled"] === true ? " (off)" : "";
  if (component["type"] === COMPONENT.button) {
    const emoji = isJsonObject(component["emoji"]) ? `${textOf(component["emoji"]["name"])} ` : "";
    return `[${`${emoji}${typeof component["label"] === "string" ? component["label"] : ""}`.trim()}]${off}`;
  }
  if (component["type"] === COMPONENT.thumbnail) return `(picture ${mediaName(component["media"])})`;
  const options = objectsIn(component["options"]);
  const names = options.map((option) => textOf(option["label"])).join(" · ");
  const placeholder = typeof component["placeholder"] === "string" ? component["placeholder"] : "Select";
  return `<${placeholder}${names === "" ? "" : `: ${names}`}>${off}`;
}

function mediaName(media: JsonValue | undefined): string {
  return isJsonObject(media) ? textOf(media["url"]).replace("attachment://", "") : "";
}

/** A form as its reader sees it. */
export function modalAsText(modal: Modal): string {
  const lines = modal.components.flatMap((top) => {
    if (top["type"] === COMPONENT.text_display) return [textOf(top["content"])];
    if (top["type"] === COMPONENT.label) return [`${textOf(top["label"])}: ____`];
    const children = objectsIn(top["components"]);
    return children.map((child) => `${textOf(child["label"])}: ____`);
  });
  return [`form ${modal.title}`, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** Mentions as names. */
function readable(world: World, text: string): string {
  return text
    .replaceAll(/<@!?(\d+)>/g, (whole, id: string) =>
      world.users.has(id) ? `@${displayName(world, id, null)}` : whole,
    )
    .replaceAll(/<#(\d+)>/g, (whole, id: string) => `#${world.channels.get(id)?.name ?? whole}`)
    .replaceAll(/<@&(\d+)>/g, (whole, id: string) => roleName(world, id) ?? whole);
}

function roleName(world: World, id: string): string | null {
  for (const guild of world.guilds.values()) {
    const role = guild.roles.get(id);
    if (role !== undefined) return `@${role.name}`;
  }
  return null;
}
