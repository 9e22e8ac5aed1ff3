import { isJsonObject } from "../../src/protocol/json.ts";
import {
  NOTIFICATION_LENGTH_MAX,
  NOTIFICATION_TITLE_LENGTH_MAX,
  type NotificationTarget,
  type NotifyRequest,
} from "../../src/protocol/notification.ts";
import { isBlank } from "../render/defuse.ts";

export type CheckedRequest = { ok: true; request: NotifyRequest } | { ok: false; error: string };

const ID_LENGTH_MAX = 128;

/** Checks a notification by hand, so that each refusal says what is wrong. */
export function checkRequest(body: unknown): CheckedRequest {
  if (!isJsonObject(body)) return refuse("The body must be a JSON object.");
  const field = (name: string): unknown => (Object.hasOwn(body, name) ? body[name] : undefined);
  const target = checkTarget(field("target"));
  if (typeof target === "string") return refuse(target);
  const message = field("message");
  if (typeof message !== "string" || isBlank(message)) return refuse("message must be a text that is not blank.");
  if (charactersOf(message.trim()) > NOTIFICATION_LENGTH_MAX) {
    return refuse(`message is longer than ${NOTIFICATION_LENGTH_MAX} characters.`);
  }
  const title = optionalText(field("title"), NOTIFICATION_TITLE_LENGTH_MAX);
  if (title === null) return refuse(`title must be a text of at most ${NOTIFICATION_TITLE_LENGTH_MAX} characters.`);
  const ws_id = optionalText(field("ws_id"), ID_LENGTH_MAX);
  if (ws_id === null) return refuse("ws_id must be a text.");
  const notification_id = optionalText(field("notification_id"), ID_LENGTH_MAX);
  if (notification_id === null) return refuse(`notification_id must be a text of at most ${ID_LENGTH_MAX} characters.`);
  return {
    ok: true,
    request: {
      target,
      message: message.trim(),
      ...(title === undefined ? {} : { title }),
      ...(ws_id === undefined ? {} : { ws_id }),
      ...(notification_id === undefined ? {} : { notification_id }),
    },
  };
}

/** The target, or what is wrong with it. */
function checkTarget(target: unknown): NotificationTarget | string {
  if (!isJsonObject(target)) return "target must be an object with username, or with channel_type and channel_id.";
  const text = (name: string): string | null => {
    const value = Object.hasOwn(target, name) ? target[name] : undefined;
    return typeof value === "string" && value.trim() !== "" && value.length <= ID_LENGTH_MAX ? value.trim() : null;
  };
  const has = (name: string): boolean => Object.hasOwn(target, name);
  const direct = has("channel_type") || has("channel_id");
  if (has("username") && direct) {
    return "target must name either a username, or a channel_type and a channel_id, not both.";
  }
  if (has("username")) {
    const username = text("username");
    return username === null ? "target.username must be a text that is not blank." : { username };
  }
  const channel_type = text("channel_type");
  const channel_id = text("channel_id");
  if (!direct || channel_type === null || channel_id === null) {
    return "target must have username, or both channel_type and channel_id, as texts.";
  }
  return { channel_type, channel_id };
}

/** Undefined where it is absent, null where it is no text or too long. */
function optionalText(value: unknown, length_max: number): string | undefined | null {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" && charactersOf(value) <= length_max ? value : null;
}

/** As people count: an emoji outside the first plane is one. */
function charactersOf(text: string): number {
  return Array.from(text).length;
}

function refuse(error: string): CheckedRequest {
  return { ok: false, error };
}
