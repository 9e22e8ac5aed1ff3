import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { COMPONENT } from "../check/components.ts";
import { attachmentPayload, keepFile, typeByName } from "../files.ts";
import type { Modal, World } from "../model.ts";
import { channelPayload, memberPayload, rolePayload, userPayload } from "../payloads.ts";
import { NotPossible } from "./find.ts";
import { objectsIn, textOf } from "../json.ts";

/** A file that a person gives. */
export interface GivenFile {
  filename: string;
  content: string | Uint8Array;
  content_type?: string;
}

/** What a person enters in one field: text, choices, files, or a tick. */
export type FieldValue = string | boolean | readonly string[] | readonly GivenFile[];

export function keepGivenFile(world: World, file: GivenFile): ReturnType<typeof keepFile> {
  return keepFile(world, {
    name: "file",
    filename: file.filename,
    content_type: file.content_type ?? typeByName(file.filename),
    bytes: typeof file.content === "string" ? Buffer.from(file.content) : file.content,
  });
}

/** The data of a submitted form. Throws `NotPossible` where the client would not let the person send it. */
export function submission(
  world: World,
  channelId: string,
  modal: Modal,
  values: Readonly<Record<string, FieldValue>>,
): JsonObject {
  const resolved: JsonObject = {};
  const asked = new Set<string>();
  const entry: Entry = { world, channel_id: channelId, values, asked, resolved };
  const components = modal.components.map((top): JsonObject => {
    if (top["type"] === COMPONENT.label && isJsonObject(top["component"])) {
      const { type, id } = top as { type: JsonValue; id: JsonValue };
      return { type, id, component: fieldAnswer(entry, top["component"]) };
    }
    if (top["type"] !== COMPONENT.action_row) return { type: top["type"] ?? null, id: top["id"] ?? null };
    const children = objectsIn(top["components"]);
    return {
      type: COMPONENT.action_row,
      id: top["id"] ?? null,
      components: children.map((child) => fieldAnswer(entry, child)),
    };
  });
  const unknown = Object.keys(values).find((key) => !asked.has(key));
  if (unknown !== undefined) {
    throw new NotPossible(`The form has no field ${unknown}; it has ${[...asked].join(", ")}.`);
  }
  return { custom_id: modal.custom_id, components, ...(Object.keys(resolved).length > 0 ? { resolved } : {}) };
}

interface Entry {
  world: World;
  channel_id: string;
  values: Readonly<Record<string, FieldValue>>;
  /** The fields that the form has. */
  asked: Set<string>;
  resolved: JsonObject;
}

function fieldAnswer(entry: Entry, field: JsonObject): JsonObject {
  const { world, values, asked, resolved } = entry;
  const customId = textOf(field["custom_id"]);
  asked.add(customId);
  const base: JsonObject = { type: field["type"] ?? null, id: field["id"] ?? null, custom_id: customId };
  const given = Object.hasOwn(values, customId) ? values[customId] : undefined;
  switch (field["type"]) {
    case COMPONENT.text_input:
      return { ...base, value: textAnswer(field, given) };
    case COMPONENT.checkbox:
      return { ...base, value: given === true || (given === undefined && field["default"] === true) };
    case COMPONENT.radio_group: {
      const value = typeof given === "string" ? given : null;
      if (value === null && field["required"] !== false) throw new NotPossible(`${customId} needs an answer.`);
      return { ...base, value };
    }
    case COMPONENT.file_upload:
      return { ...base, values: fileAnswer(world, entry.channel_id, given, resolved) };
    default:
      return {
        ...base,
        values: selection(world, field, given === undefined ? preselected(field) : listOf(given), resolved),
      };
  }
}

function textAnswer(field: JsonObject, given: FieldValue | undefined): string {
  const text = typeof given === "string" ? given : typeof field["value"] === "string" ? field["value"] : "";
  const min = typeof field["min_length"] === "number" ? field["min_length"] : 0;
  const max = typeof field["max_length"] === "number" ? field["max_length"] : 4000;
  if (text === "" && field["required"] !== false) {
    throw new NotPossible(`${textOf(field["custom_id"])} needs an answer.`);
  }
  if (text !== "" && (text.length < min || text.length > max)) {
    throw new NotPossible(`${textOf(field["custom_id"])} takes ${min} to ${max} characters.`);
  }
  return text;
}

function fileAnswer(world: World, channelId: string, given: FieldValue | undefined, resolved: JsonObject): JsonValue[] {
  const files = Array.isArray(given) ? given.filter((one): one is GivenFile => typeof one !== "string") : [];
  return files.map((file) => {
    const kept = keepGivenFile(world, file);
    addResolved(resolved, "attachments", kept.id, { ...attachmentPayload(world, channelId, kept), ephemeral: true });
    return kept.id;
  });
}

function listOf(given: FieldValue | undefined): string[] {
  if (typeof given === "string") return [given];
  return Array.isArray(given) ? given.filter((one): one is string => typeof one === "string") : [];
}

/** What a menu of a form holds that nobody touched. */
function preselected(select: JsonObject): string[] {
  return objectsIn(select["options"]).flatMap((one) => (one["default"] === true ? [textOf(one["value"])] : []));
}

/** The chosen values of a select, checked against what it offers; people, roles and channels become `resolved`. */
export function selection(world: World, select: JsonObject, values: readonly string[], resolved: JsonObject): string[] {
  const min = typeof select["min_values"] === "number" ? select["min_values"] : 1;
  const max = typeof select["max_values"] === "number" ? select["max_values"] : 1;
  const least = select["required"] === false ? 0 : min;
  if (values.length < least || values.length > Math.max(max, 1)) {
    throw new NotPossible(`${textOf(select["custom_id"])} takes ${min} to ${max} choices.`);
  }
  if (Array.isArray(select["options"])) {
    const offered = select["options"].filter(isJsonObject).map((option) => textOf(option["value"]));
    const wrong = values.find((value) => !offered.includes(value));
    if (wrong !== undefined) throw new NotPossible(`${wrong} is not offered; there is ${offered.join(", ")}.`);
    return [...values];
  }
  for (const id of values) resolveId(world, id, resolved);
  return [...values];
}

/** Adds a user, role or channel to `resolved`. */
export function resolveId(world: World, id: string, resolved: JsonObject): void {
  const user = world.users.get(id);
  const channel = world.channels.get(id);
  if (channel !== undefined) addResolved(resolved, "channels", id, channelPayload(world, channel));
  if (user !== undefined) addResolved(resolved, "users", id, userPayload(user));
  for (const guild of world.guilds.values()) {
    const role = guild.roles.get(id);
    if (role !== undefined) addResolved(resolved, "roles", id, rolePayload(guild, role));
    const member = user === undefined ? null : memberPayload(world, guild, id, false);
    if (member !== null) addResolved(resolved, "members", id, { ...member, permissions: "0" });
  }
}

/** Adds one object to a group of `resolved`. */
export function addResolved(resolved: JsonObject, group: string, id: string, value: JsonObject): void {
  const known = isJsonObject(resolved[group]) ? resolved[group] : {};
  resolved[group] = { ...known, [id]: value };
}
