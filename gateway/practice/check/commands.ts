import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import { createForm } from "../failure.ts";
import { below, checkChoice, checkObjects, checkText, refuse } from "./values.ts";
import type { Place } from "./values.ts";
import { textOf } from "../json.ts";

/** Commands of each type (chat input, user, message) in one scope. */
const COMMANDS_MAX: Readonly<Record<number, number>> = { 1: 100, 2: 15, 3: 15 };

/** UTF-16 units over the names, descriptions and values of one command. */
const COMMAND_TEXT_MAX = 8000;

const CHAT_NAME = /^[-_'\p{L}\p{N}]{1,32}$/u;
const SUBCOMMAND = 1;
const GROUP = 2;

/** Checks the body of a bulk overwrite; throws a `DiscordFailure` whose paths begin with the command's index. */
export function checkCommands(commands: readonly JsonValue[]): void {
  const form = createForm();
  const names = new Set<string>();
  const counts = new Map<number, number>();
  for (const { item, place } of checkObjects({ form, path: [] }, [...commands], { max: 130 })) {
    const type = typeof item["type"] === "number" ? item["type"] : 1;
    counts.set(type, (counts.get(type) ?? 0) + 1);
    if ((counts.get(type) ?? 0) > (COMMANDS_MAX[type] ?? 1)) {
      refuse(place, "APPLICATION_COMMAND_TOO_MANY", "Too many commands of this type");
    }
    const key = `${type}:${textOf(item["name"])}`;
    if (names.has(key)) refuse(below(place, "name"), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Name is not unique");
    names.add(key);
    checkCommand(place, item, type);
  }
  form.finish();
}

function checkCommand(place: Place, item: JsonObject, type: number): void {
  if (!checkChoice(below(place, "type"), type, [1, 2, 3])) return;
  if (type !== 1) {
    checkText(below(place, "name"), item["name"], { min: 1, max: 32, required: true });
    if (item["description"]) {
      refuse(below(place, "description"), "APPLICATION_COMMAND_NO_DESCRIPTION", "Context menu commands have none");
    }
    return;
  }
  const length = checkNamed(place, item) + checkOptions(place, item, 0);
  if (length > COMMAND_TEXT_MAX) {
    refuse(place, "APPLICATION_COMMAND_TOO_LARGE", `Command exceeds maximum size (${COMMAND_TEXT_MAX})`);
  }
}

/** Name and description of a command or an option; answers their length. */
function checkNamed(place: Place, item: JsonObject): number {
  const name = checkText(below(place, "name"), item["name"], { min: 1, max: 32, required: true });
  if (name !== null && (!CHAT_NAME.test(name) || name !== name.toLowerCase())) {
    refuse(below(place, "name"), "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid");
  }
  const description = checkText(below(place, "description"), item["description"], { min: 1, max: 100, required: true });
  return (name?.length ?? 0) + (description?.length ?? 0);
}

function checkOptions(place: Place, parent: JsonObject, depth: number): number {
  const names = new Set<string>();
  let length = 0;
  let optionalSeen = false;
  for (const { item, place: at } of checkObjects(below(place, "options"), parent["options"], { max: 25 })) {
    length += checkNamed(at, item);
    const name = textOf(item["name"]);
    if (names.has(name)) refuse(below(at, "name"), "APPLICATION_COMMAND_OPTIONS_NAME_DUPLICATE", "Name is not unique");
    names.add(name);
    if (item["required"] === true && optionalSeen) {
      refuse(at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before others");
    }
    if (item["required"] !== true) optionalSeen = true;
    length += checkOption(at, item, depth);
  }
  return length;
}

function checkOption(place: Place, item: JsonObject, depth: number): number {
  if (!checkChoice(below(place, "type"), item["type"], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])) return 0;
  if (item["type"] === SUBCOMMAND || item["type"] === GROUP) {
    if (depth > 1 || (depth === 1 && item["type"] === GROUP)) {
      refuse(
        below(place, "type"),
        "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
        "Sub-command option type is invalid here",
      );
    }
    return checkOptions(place, item, depth + 1);
  }
  let length = 0;
  const choices = checkObjects(below(place, "choices"), item["choices"], { max: 25 });
  for (const { item: choice, place: at } of choices) length += checkChoiceOption(at, choice);
  if (choices.length > 0 && item["autocomplete"] === true) {
    refuse(place, "APPLICATION_COMMAND_AUTOCOMPLETE_WITH_CHOICES", "Autocomplete cannot be combined with choices");
  }
  if (item["autocomplete"] === true && ![3, 4, 10].includes(Number(item["type"]))) {
    refuse(below(place, "autocomplete"), "APPLICATION_COMMAND_AUTOCOMPLETE_TYPE", "This type has no autocomplete");
  }
  return length;
}

function checkChoiceOption(place: Place, choice: JsonObject): number {
  const name = checkText(below(place, "name"), choice["name"], { min: 1, max: 100, required: true });
  const value = choice["value"];
  if (typeof value === "number") return name?.length ?? 0;
  return (name?.length ?? 0) + (checkText(below(place, "value"), value, { max: 100, required: true })?.length ?? 0);
}

/** Checks what the bot offers while somebody types. */
export function checkAutocompleteChoices(data: JsonObject): void {
  const form = createForm();
  const place: Place = { form, path: ["data", "choices"] };
  for (const { item, place: at } of checkObjects(place, data["choices"], { max: 25, required: true })) {
    checkChoiceOption(at, item);
  }
  form.finish();
}
