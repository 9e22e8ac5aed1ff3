import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";

/** An answer that refuses, as Discord words it: HTTP status, JSON code, message and, for forms, where it went wrong. */
export class DiscordFailure extends Error {
  readonly status: number;
  readonly body: JsonObject;

  constructor(status: number, code: number, message: string, errors?: JsonObject) {
    super(errors === undefined ? `${code} ${message}` : `${code} ${message} ${JSON.stringify(errors)}`);
    this.name = "DiscordFailure";
    this.status = status;
    this.body = errors === undefined ? { message, code } : { message, code, errors };
  }
}

/** Discord's documented codes with the status and the words that come with them. */
const FAILURES = {
  unauthorized: [401, 0, "401: Unauthorized"],
  not_found: [404, 0, "404: Not Found"],
  method_not_allowed: [405, 0, "405: Method Not Allowed"],
  unknown_channel: [404, 10003, "Unknown Channel"],
  unknown_guild: [404, 10004, "Unknown Guild"],
  unknown_member: [404, 10007, "Unknown Member"],
  unknown_message: [404, 10008, "Unknown Message"],
  unknown_user: [404, 10013, "Unknown User"],
  unknown_emoji: [400, 10014, "Unknown Emoji"],
  unknown_webhook: [404, 10015, "Unknown Webhook"],
  unknown_interaction: [404, 10062, "Unknown interaction"],
  unknown_command: [404, 10063, "Unknown application command"],
  too_many_pins: [400, 30003, "Maximum number of pins reached (250)"],
  too_large: [413, 40005, "Request entity too large"],
  already_acknowledged: [400, 40060, "Interaction has already been acknowledged."],
  forum_needs_thread: [400, 50024, "Cannot execute action on this channel type"],
  missing_access: [403, 50001, "Missing Access"],
  cannot_edit_others: [403, 50005, "Cannot edit a message authored by another user"],
  empty_message: [400, 50006, "Cannot send an empty message"],
  cannot_send_to_user: [403, 50007, "Cannot send messages to this user"],
  missing_permissions: [403, 50013, "Missing Permissions"],
  wrong_channel_type: [400, 50024, "Cannot execute action on this channel type"],
  expired_token: [401, 50027, "Invalid Webhook Token"],
  system_message: [403, 50021, "Cannot execute action on a system message"],
  thread_archived: [400, 50083, "Thread is archived"],
  bad_json: [400, 50109, "The request body contains invalid JSON."],
  no_history_permission: [400, 160002, "Cannot reply without permission to read message history"],
  thread_exists: [400, 160004, "A thread has already been created for this message"],
  thread_locked: [400, 160005, "Thread is locked"],
} as const satisfies Record<string, readonly [number, number, string]>;

export type FailureName = keyof typeof FAILURES;

/** The refusal of that name, to be thrown. */
export function failure(name: FailureName): DiscordFailure {
  const [status, code, message] = FAILURES[name];
  return new DiscordFailure(status, code, message);
}

/** Collects what is wrong with a form and where, then refuses it as a whole with code 50035. */
export interface Form {
  add(path: readonly (string | number)[], code: string, message: string): void;
  /** Throws a `DiscordFailure` when anything was added. */
  finish(): void;
}

export function createForm(): Form {
  const errors: JsonObject = {};
  return {
    add(path, code, message) {
      let at = errors;
      for (const key of path) at = childOf(at, String(key));
      const list = Array.isArray(at["_errors"]) ? at["_errors"] : [];
      at["_errors"] = [...list, { code, message } satisfies JsonValue];
    },
    finish() {
      if (Object.keys(errors).length > 0) throw new DiscordFailure(400, 50035, "Invalid Form Body", errors);
    },
  };
}

function childOf(parent: JsonObject, key: string): JsonObject {
  const existing = parent[key];
  if (typeof existing === "object" && existing !== null && !Array.isArray(existing)) return existing;
  const made: JsonObject = {};
  parent[key] = made;
  return made;
}
