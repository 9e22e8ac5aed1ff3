import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { createForm, failure } from "../failure.ts";
import { FILES_MAX, FILE_BYTES_MAX } from "../files.ts";
import type { Upload } from "../files.ts";
import type { Message } from "../model.ts";
import { checkMessageComponents } from "./components.ts";
import { checkEmbeds } from "./embeds.ts";
import { below, checkBoolean, checkCount, checkInteger, checkText, isSnowflake, refuse } from "./values.ts";
import type { Place } from "./values.ts";
import { textOf } from "../json.ts";

/** Message flags. */
export const FLAG = {
  suppress_embeds: 1 << 2,
  has_thread: 1 << 5,
  ephemeral: 1 << 6,
  loading: 1 << 7,
  suppress_notifications: 1 << 12,
  voice_message: 1 << 13,
  has_snapshot: 1 << 14,
  components_v2: 1 << 15,
} as const;

/** UTF-16 units of content. */
export const CONTENT_MAX = 2000;

/** Where a message is written: only an interaction's answers may be ephemeral. */
export type Surface = "channel" | "interaction";

export interface MessageForm {
  body: JsonObject;
  files: readonly Upload[];
  surface: Surface;
  /** The message that is edited; null for a new one. */
  existing: Message | null;
  /** Where the form's error paths begin, such as `["data"]` in an interaction's answer. */
  path: readonly string[];
}

/** Throws the `DiscordFailure` that Discord would answer, or returns. */
export function checkMessage(input: MessageForm): void {
  const form = createForm();
  const place: Place = { form, path: input.path };
  const v2 = isV2(input);
  checkText(below(place, "content"), input.body["content"], { max: CONTENT_MAX });
  checkEmbeds(below(place, "embeds"), input.body["embeds"]);
  checkFlags(below(place, "flags"), input);
  checkNonce(below(place, "nonce"), input.body["nonce"]);
  checkBoolean(below(place, "tts"), input.body["tts"]);
  checkAllowedMentions(below(place, "allowed_mentions"), input.body["allowed_mentions"]);
  checkFiles(below(place, "attachments"), input);
  checkMessageComponents(below(place, "components"), input.body["components"], { v2, filenames: filenames(input) });
  if (v2) checkNoLegacyFields(place, input);
  form.finish();
  if (isEmpty(input)) throw failure("empty_message");
}

/** Whether the message is, or after this edit will be, one of Components V2; the flag cannot be taken back. */
export function isV2(input: Pick<MessageForm, "body" | "existing">): boolean {
  const asked = typeof input.body["flags"] === "number" ? input.body["flags"] : 0;
  return ((asked | (input.existing?.flags ?? 0)) & FLAG.components_v2) !== 0;
}

function checkFlags(place: Place, input: MessageForm): void {
  const flags = checkInteger(place, input.body["flags"], { min: 0, max: 2 ** 31 - 1 });
  if (flags !== null && (flags & FLAG.ephemeral) !== 0 && input.surface === "channel") {
    refuse(place, "BASE_TYPE_CHOICES", "Only the answer to an interaction can be ephemeral.");
  }
}

function checkNonce(place: Place, nonce: JsonValue | undefined): void {
  if (nonce === undefined || nonce === null || Number.isSafeInteger(nonce)) return;
  if (typeof nonce !== "string") return refuse(place, "NONCE_TYPE_INVALID", "Nonce must be an integer or a string.");
  if (nonce.length > 25) refuse(place, "NONCE_TYPE_TOO_LONG", "Nonce must be 25 characters or fewer.");
}

function checkAllowedMentions(place: Place, value: JsonValue | undefined): void {
  if (value === undefined || value === null) return;
  if (!isJsonObject(value)) return refuse(place, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType.");
  const parse = Array.isArray(value["parse"]) ? value["parse"] : [];
  for (const [index, kind] of parse.entries()) {
    if (typeof kind === "string" && ["users", "roles", "everyone"].includes(kind)) continue;
    refuse(below(place, "parse", index), "BASE_TYPE_CHOICES", "Value must be one of ('everyone', 'users', 'roles').");
  }
  checkBoolean(below(place, "replied_user"), value["replied_user"]);
  for (const key of ["users", "roles"]) {
    const ids = Array.isArray(value[key]) ? value[key] : [];
    checkCount(below(place, key), ids.length, 0, 100);
    for (const [index, id] of ids.entries()) {
      if (isSnowflake(id)) continue;
      refuse(below(place, key, index), "NUMBER_TYPE_COERCE", `Value "${textOf(id)}" is not snowflake.`);
    }
    if (ids.length > 0 && parse.includes(key)) {
      refuse(
        place,
        "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
        `parse:["${key}"] and ${key}: [ids...] are mutually exclusive.`,
      );
    }
  }
}

function checkFiles(place: Place, input: MessageForm): void {
  if (input.files.some((file) => file.bytes.length > FILE_BYTES_MAX)) throw failure("too_large");
  const listed = Array.isArray(input.body["attachments"]) ? input.body["attachments"].filter(isJsonObject) : [];
  checkCount(place, Math.max(listed.length, input.files.length), 0, FILES_MAX);
  const known = new Set(input.existing?.attachments.map((attachment) => attachment.id));
  for (const [index, entry] of listed.entries()) {
    const id = textOf(entry["id"]);
    checkText(below(place, index, "description"), entry["description"], { max: 1024 });
    if (known.has(id) || input.files.some((file) => file.name === `files[${id}]`)) continue;
    refuse(below(place, index, "id"), "ATTACHMENT_NOT_FOUND", `Attachment data for "${id}" not found`);
  }
}

/** The names that components may refer to: files that come with the request and those that stay. */
function filenames(input: MessageForm): ReadonlySet<string> {
  const listed = input.body["attachments"];
  const kept = (input.existing?.attachments ?? []).filter(
    (one) => !Array.isArray(listed) || listed.some((entry) => isJsonObject(entry) && textOf(entry["id"]) === one.id),
  );
  return new Set([...kept.map((one) => one.filename), ...input.files.map((file) => file.filename)]);
}

function checkNoLegacyFields(place: Place, input: MessageForm): void {
  const left: Record<string, boolean> = {
    content: hasText(merged(input, "content", input.existing?.content)),
    embeds: hasItems(merged(input, "embeds", input.existing?.embeds)),
    sticker_ids: hasItems(input.body["sticker_ids"]),
    poll: isJsonObject(input.body["poll"]),
  };
  for (const [key, present] of Object.entries(left)) {
    if (!present) continue;
    refuse(
      below(place, key),
      "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
      `The '${key}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2`,
    );
  }
}

function isEmpty(input: MessageForm): boolean {
  const { body, files, existing } = input;
  if (existing === null && isJsonObject(body["message_reference"]) && body["message_reference"]["type"] === 1) {
    return false;
  }
  const listed = body["attachments"];
  const kept = Array.isArray(listed) ? listed.length : (existing?.attachments.length ?? 0);
  return !(
    hasText(merged(input, "content", existing?.content)) ||
    hasItems(merged(input, "embeds", existing?.embeds)) ||
    hasItems(merged(input, "components", existing?.components)) ||
    hasItems(body["sticker_ids"]) ||
    isJsonObject(body["poll"]) ||
    files.length > 0 ||
    kept > 0
  );
}

function merged(input: MessageForm, key: string, existing: JsonValue | undefined): JsonValue | undefined {
  return input.body[key] === undefined ? existing : input.body[key];
}

// A zero-width space alone counts as nothing: the real service trims it.
function hasText(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value.replaceAll(/\s|\p{Cf}/gu, "") !== "";
}

function hasItems(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}
