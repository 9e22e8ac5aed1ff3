import type { Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { textArgument } from "../lib/arguments.ts";
import { isBlank, visible, visibleLine } from "../lib/visible.ts";
import { counted } from "../lib/words.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import {
  NOTIFICATION_LENGTH_MAX,
  NOTIFICATION_TITLE_LENGTH_MAX,
  type NotificationTarget,
} from "../protocol/notification.ts";

interface NotifyPlan {
  target: NotificationTarget;
  message: string;
  title?: string;
}

/** Sends a message to a person or channel. A call that a restart interrupted is taken up and delivered once. */
export function notifyTool(): Tool {
  return { name: "notify", prepare, execute: run, resume: run };
}

function prepare(args: JsonObject): Preparation {
  const given = textArgument(args, "message");
  if (!given.ok) return given;
  const message = given.value.toWellFormed().trim();
  if (isBlank(message)) return { ok: false, error: "message is empty. Say what the person is to read." };
  const length = Array.from(message).length;
  if (length > NOTIFICATION_LENGTH_MAX) {
    return {
      ok: false,
      error: `message has ${counted(length, "character")}; at most ${NOTIFICATION_LENGTH_MAX} are sent. Shorten it.`,
    };
  }
  const title = optionalText(args, "title");
  if (!title.ok) return title;
  if (Array.from(title.value ?? "").length > NOTIFICATION_TITLE_LENGTH_MAX) {
    return { ok: false, error: `title is longer than ${NOTIFICATION_TITLE_LENGTH_MAX} characters. Shorten it.` };
  }
  const target = targetIn(args);
  if (!target.ok) return target;
  const heading = title.value === null ? "" : `${title.value}\n\n`;
  return {
    ok: true,
    plan: { target: { ...target.value }, message, ...(title.value === null ? {} : { title: title.value }) },
    header: `notify → ${visibleLine(targetInWords(target.value))}`,
    preview: visible(`${heading}${message}`),
    needs_approval: false,
    effect: "side_effect",
    subject: targetInWords(target.value),
  };
}

type Checked<Value> = { ok: true; value: Value } | { ok: false; error: string };

/** Models fill in what they have no use for: null and blank texts count as left out. */
function optionalText(args: JsonObject, name: string): Checked<string | null> {
  if (!Object.hasOwn(args, name) || args[name] === null) return { ok: true, value: null };
  const given = textArgument(args, name);
  if (!given.ok) return given;
  const text = given.value.toWellFormed().trim();
  return { ok: true, value: isBlank(text) ? null : text };
}

function targetIn(args: JsonObject): Checked<NotificationTarget> {
  const username = optionalText(args, "username");
  const channel_type = optionalText(args, "channel_type");
  const channel_id = optionalText(args, "channel_id");
  if (!username.ok) return username;
  if (!channel_type.ok) return channel_type;
  if (!channel_id.ok) return channel_id;
  const is_direct = channel_type.value !== null || channel_id.value !== null;
  if (username.value !== null && is_direct) {
    return { ok: false, error: "Name either username, or channel_type and channel_id, not both." };
  }
  if (username.value !== null) return { ok: true, value: { username: username.value.replace(/^@/, "") } };
  if (channel_type.value !== null && channel_id.value !== null) {
    return { ok: true, value: { channel_type: channel_type.value, channel_id: channel_id.value } };
  }
  if (!is_direct) return { ok: false, error: "Say who it is for: username, or channel_type and channel_id together." };
  const missing = channel_type.value === null ? "channel_type" : "channel_id";
  return { ok: false, error: `${missing} is missing: channel_type and channel_id are given together.` };
}

function targetInWords(target: NotificationTarget): string {
  return "username" in target ? `@${target.username}` : `${target.channel_type}:${target.channel_id}`;
}

async function run(kept: JsonValue, context: ToolContext): Promise<ToolOutput> {
  const { target, message, title } = asPlan(kept);
  const words = { target, message, ...(title === undefined ? {} : { title }) };
  const result = await context.deliver(words);
  if (!result.ok) return { output: result.error, is_error: true, effect: result.unknown === true ? "unknown" : "none" };
  const { notification_id, deliveries } = result;
  return { output: "sent", is_error: false, effect: "done", notification: { notification_id, ...words, deliveries } };
}

/** A plan comes back from the store: what it is was decided by `prepare`. */
function asPlan(plan: JsonValue): NotifyPlan {
  if (!isJsonObject(plan)) throw new Error("The plan of a notify call is not an object.");
  return plan as unknown as NotifyPlan;
}
