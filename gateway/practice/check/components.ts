import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import {
  below,
  checkBoolean,
  checkChoice,
  checkCount,
  checkInteger,
  checkObjects,
  checkText,
  checkUrl,
  refuse,
} from "./values.ts";
import type { Place } from "./values.ts";

/** Discord's component types by name. */
export const COMPONENT = {
  action_row: 1,
  button: 2,
  string_select: 3,
  text_input: 4,
  user_select: 5,
  role_select: 6,
  mentionable_select: 7,
  channel_select: 8,
  section: 9,
  text_display: 10,
  thumbnail: 11,
  media_gallery: 12,
  file: 13,
  separator: 14,
  container: 17,
  label: 18,
  file_upload: 19,
  radio_group: 21,
  checkbox_group: 22,
  checkbox: 23,
} as const;

const SELECTS: readonly number[] = [3, 5, 6, 7, 8];
const TOP_LEVEL: readonly number[] = [1, 9, 10, 12, 13, 14, 17];
const IN_CONTAINER: readonly number[] = TOP_LEVEL.filter((type) => type !== COMPONENT.container);

/** Rows in a message without the Components V2 flag. */
const ROWS_MAX = 5;
/** Components in a V2 message, nested ones counted. */
const COMPONENTS_MAX = 40;
/** UTF-16 units over all text displays of a V2 message. */
const TEXT_MAX = 4000;

interface Walk {
  custom_ids: Set<string>;
  ids: Set<number>;
  count: number;
  text_length: number;
  /** Names that `attachment://` may refer to. */
  filenames: ReadonlySet<string>;
}

/** Checks the components of a message, with or without the Components V2 flag. */
export function checkMessageComponents(
  place: Place,
  value: JsonValue | undefined,
  options: { v2: boolean; filenames: ReadonlySet<string> },
): void {
  const walk: Walk = { custom_ids: new Set(), ids: new Set(), count: 0, text_length: 0, filenames: options.filenames };
  const max = options.v2 ? COMPONENTS_MAX : ROWS_MAX;
  for (const { item, place: at } of checkObjects(place, value, { max })) {
    if (checkType(at, item, options.v2 ? TOP_LEVEL : [COMPONENT.action_row])) checkComponent(walk, at, item);
  }
  if (!options.v2) return;
  if (walk.count > COMPONENTS_MAX) {
    refuse(place, "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", `Must be ${COMPONENTS_MAX} or fewer components in total`);
  }
  if (walk.text_length > TEXT_MAX) {
    refuse(place, "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", `Displayable text exceeds maximum size of ${TEXT_MAX}`);
  }
}

function checkType(place: Place, item: JsonObject, allowed: readonly number[]): boolean {
  const type = item["type"];
  if (typeof type === "number" && allowed.includes(type)) return true;
  refuse(below(place, "type"), "UNION_TYPE_CHOICES", `Value of field "type" must be one of (${allowed.join(", ")}).`);
  return false;
}

function checkComponent(walk: Walk, place: Place, item: JsonObject): void {
  walk.count += 1;
  checkId(walk, place, item);
  switch (item["type"]) {
    case COMPONENT.action_row:
      return checkRow(walk, place, item);
    case COMPONENT.button:
      return checkButton(walk, place, item);
    case COMPONENT.section:
      return checkSection(walk, place, item);
    case COMPONENT.text_display:
      walk.text_length +=
        checkText(below(place, "content"), item["content"], { min: 1, max: TEXT_MAX, required: true })?.length ?? 0;
      return;
    case COMPONENT.thumbnail:
      return checkMedia(walk, place, item, "media", ["http", "https", "attachment"]);
    case COMPONENT.media_gallery:
      for (const { item: one, place: at } of checkObjects(below(place, "items"), item["items"], {
        min: 1,
        max: 10,
        required: true,
      })) {
        checkMedia(walk, at, one, "media", ["http", "https", "attachment"]);
      }
      return;
    case COMPONENT.file:
      return checkMedia(walk, place, item, "file", ["attachment"]);
    case COMPONENT.separator:
      checkBoolean(below(place, "divider"), item["divider"]);
      checkInteger(below(place, "spacing"), item["spacing"], { min: 1, max: 2 });
      return;
    case COMPONENT.container:
      return checkContainer(walk, place, item);
    default:
      checkSelect(walk, place, item);
  }
}

function checkId(walk: Walk, place: Place, item: JsonObject): void {
  const id = checkInteger(below(place, "id"), item["id"], { min: 0, max: 2 ** 31 - 1 });
  if (id === null || id === 0) return;
  if (walk.ids.has(id)) refuse(below(place, "id"), "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated");
  walk.ids.add(id);
}

function checkContainer(walk: Walk, place: Place, item: JsonObject): void {
  checkInteger(below(place, "accent_color"), item["accent_color"], { min: 0, max: 0xffffff });
  checkBoolean(below(place, "spoiler"), item["spoiler"]);
  const children = below(place, "components");
  for (const { item: child, place: at } of checkObjects(children, item["components"], {
    min: 1,
    max: COMPONENTS_MAX,
    required: true,
  })) {
    if (checkType(at, child, IN_CONTAINER)) checkComponent(walk, at, child);
  }
}

function checkSection(walk: Walk, place: Place, item: JsonObject): void {
  const texts = below(place, "components");
  for (const { item: child, place: at } of checkObjects(texts, item["components"], {
    min: 1,
    max: 3,
    required: true,
  })) {
    if (checkType(at, child, [COMPONENT.text_display])) checkComponent(walk, at, child);
  }
  const accessory = item["accessory"];
  const at = below(place, "accessory");
  if (!isJsonObject(accessory)) return refuse(at, "BASE_TYPE_REQUIRED", "This field is required");
  if (checkType(at, accessory, [COMPONENT.button, COMPONENT.thumbnail])) checkComponent(walk, at, accessory);
}

function checkMedia(walk: Walk, place: Place, item: JsonObject, key: string, schemes: readonly string[]): void {
  checkText(below(place, "description"), item["description"], { min: 1, max: 1024 });
  const media = item[key];
  const at = below(place, key);
  if (!isJsonObject(media)) return refuse(at, "BASE_TYPE_REQUIRED", "This field is required");
  const url = checkUrl(below(at, "url"), media["url"], schemes, true);
  if (url?.startsWith("attachment://") !== true) return;
  if (walk.filenames.has(url.slice("attachment://".length))) return;
  refuse(below(at, "url"), "COMPONENT_ATTACHMENT_NOT_FOUND", `The referenced attachment in "${url}" was not found`);
}

function checkRow(walk: Walk, place: Place, item: JsonObject): void {
  const at = below(place, "components");
  const children = checkObjects(at, item["components"], { min: 1, max: 5, required: true });
  const hasSelect = children.some(({ item: child }) => SELECTS.includes(Number(child["type"])));
  if (hasSelect && children.length > 1) {
    refuse(at, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width");
  }
  for (const { item: child, place: childAt } of children) {
    if (checkType(childAt, child, [COMPONENT.button, ...SELECTS])) checkComponent(walk, childAt, child);
  }
}

function checkButton(walk: Walk, place: Place, item: JsonObject): void {
  checkChoice(below(place, "style"), item["style"], [1, 2, 3, 4, 5, 6]);
  checkText(below(place, "label"), item["label"], { max: 80 });
  checkBoolean(below(place, "disabled"), item["disabled"]);
  const isLink = item["style"] === 5;
  if (isLink) {
    checkUrl(below(place, "url"), item["url"], ["http", "https", "discord"], true);
    if (typeof item["url"] === "string" && item["url"].length > 512) {
      refuse(below(place, "url"), "BASE_TYPE_MAX_LENGTH", "Must be 512 or fewer in length.");
    }
    if (item["custom_id"] !== undefined) {
      refuse(
        place,
        "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
        "A custom id and url cannot both be specified",
      );
    }
  } else {
    checkCustomId(walk, place, item);
    if (item["url"] !== undefined && item["url"] !== null) {
      refuse(place, "BUTTON_COMPONENT_INVALID_URL", "Only link buttons have a url");
    }
  }
  const hasLabel = typeof item["label"] === "string" && item["label"].length > 0;
  if (!hasLabel && !isJsonObject(item["emoji"])) {
    refuse(place, "BUTTON_COMPONENT_LABEL_EMOJI_REQUIRED", "A label or emoji must be specified");
  }
}

function checkCustomId(walk: Walk, place: Place, item: JsonObject): void {
  const at = below(place, "custom_id");
  const id = checkText(at, item["custom_id"], { min: 1, max: 100, required: true });
  if (id === null) return;
  if (walk.custom_ids.has(id)) {
    refuse(at, "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
  }
  walk.custom_ids.add(id);
}

function checkSelect(walk: Walk, place: Place, item: JsonObject): void {
  checkCustomId(walk, place, item);
  checkSelectBody(place, item);
  checkBoolean(below(place, "disabled"), item["disabled"]);
}

/** What a select needs wherever it stands: range, placeholder, options. */
export function checkSelectBody(place: Place, item: JsonObject): void {
  checkText(below(place, "placeholder"), item["placeholder"], { max: 150 });
  const min = checkInteger(below(place, "min_values"), item["min_values"], { min: 0, max: 25 }) ?? 1;
  const max = checkInteger(below(place, "max_values"), item["max_values"], { min: 1, max: 25 }) ?? 1;
  if (min > max) refuse(below(place, "min_values"), "BASE_TYPE_BAD_RANGE", "min_values is above max_values.");
  if (item["type"] !== COMPONENT.string_select) return;
  checkOptions(below(place, "options"), item["options"], { min: 1, max: 25 });
  const count = Array.isArray(item["options"]) ? item["options"].length : 0;
  if (max > count) {
    refuse(below(place, "max_values"), "BASE_TYPE_BAD_RANGE", "max_values is above the number of options.");
  }
}

/** The options of a select, radio group or checkbox group: values are unique. */
export function checkOptions(place: Place, value: JsonValue | undefined, limits: { min: number; max: number }): void {
  const options = checkObjects(place, value, { ...limits, required: true });
  const seen = new Set<string>();
  for (const { item, place: at } of options) {
    checkText(below(at, "label"), item["label"], { min: 1, max: 100, required: true });
    checkText(below(at, "description"), item["description"], { max: 100 });
    const name = checkText(below(at, "value"), item["value"], { min: 1, max: 100, required: true });
    if (name === null) continue;
    if (seen.has(name)) {
      refuse(
        below(at, "value"),
        "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
        "The specified option value is already used",
      );
    }
    seen.add(name);
  }
  checkCount(place, options.length, 0, limits.max);
}

/** Gives each component the number that Discord would: those without one are counted in order. */
export function numberComponents(components: readonly JsonValue[]): JsonObject[] {
  const taken = new Set<number>();
  walkComponents(components, (one) => {
    if (typeof one["id"] === "number") taken.add(one["id"]);
  });
  let next = 1;
  const number = (one: JsonObject): JsonObject => {
    let id = one["id"];
    if (typeof id !== "number" || id === 0) {
      while (taken.has(next)) next += 1;
      id = next++;
    }
    const made: JsonObject = { ...one, id };
    if (Array.isArray(one["components"])) made["components"] = one["components"].filter(isJsonObject).map(number);
    for (const key of ["accessory", "component"]) if (isJsonObject(one[key])) made[key] = number(one[key]);
    return made;
  };
  return components.filter(isJsonObject).map(number);
}

/** Visits each component, the containing ones first. */
export function walkComponents(components: readonly JsonValue[], visit: (component: JsonObject) => void): void {
  for (const one of components) {
    if (!isJsonObject(one)) continue;
    visit(one);
    if (Array.isArray(one["components"])) walkComponents(one["components"], visit);
    for (const key of ["accessory", "component"]) if (isJsonObject(one[key])) walkComponents([one[key]], visit);
  }
}
