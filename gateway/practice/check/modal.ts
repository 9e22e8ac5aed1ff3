import type { JsonObject } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { createForm } from "../failure.ts";
import { COMPONENT, checkOptions, checkSelectBody } from "./components.ts";
import { below, checkBoolean, checkChoice, checkInteger, checkObjects, checkText, refuse } from "./values.ts";
import type { Place } from "./values.ts";

/** Top-level components of a modal. */
const MODAL_COMPONENTS_MAX = 5;

const IN_LABEL: readonly number[] = [3, 4, 5, 6, 7, 8, 19, 21, 22, 23];

/** Checks the data of a modal answer; throws a `DiscordFailure` whose paths begin at `data`. */
export function checkModal(data: JsonObject): void {
  const form = createForm();
  const place: Place = { form, path: ["data"] };
  checkText(below(place, "title"), data["title"], { min: 1, max: 45, required: true });
  checkText(below(place, "custom_id"), data["custom_id"], { min: 1, max: 100, required: true });
  const ids = new Set<string>();
  const limits = { min: 1, max: MODAL_COMPONENTS_MAX, required: true };
  for (const { item, place: at } of checkObjects(below(place, "components"), data["components"], limits)) {
    checkTop(ids, at, item);
  }
  form.finish();
}

function checkTop(ids: Set<string>, place: Place, item: JsonObject): void {
  switch (item["type"]) {
    case COMPONENT.text_display:
      checkText(below(place, "content"), item["content"], { min: 1, max: 4000, required: true });
      return;
    case COMPONENT.label:
      return checkLabel(ids, place, item);
    case COMPONENT.action_row:
      return checkOldRow(ids, place, item);
    default:
      refuse(below(place, "type"), "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (1, 10, 18).');
  }
}

function checkLabel(ids: Set<string>, place: Place, item: JsonObject): void {
  checkText(below(place, "label"), item["label"], { min: 1, max: 45, required: true });
  checkText(below(place, "description"), item["description"], { min: 1, max: 100 });
  const component = item["component"];
  const at = below(place, "component");
  if (!isJsonObject(component)) return refuse(at, "BASE_TYPE_REQUIRED", "This field is required");
  if (component["label"] !== undefined && component["label"] !== null) {
    refuse(below(at, "label"), "COMPONENT_LABEL_NOT_ALLOWED", "The label belongs to the component around it");
  }
  checkField(ids, at, component);
}

function checkOldRow(ids: Set<string>, place: Place, item: JsonObject): void {
  const children = checkObjects(below(place, "components"), item["components"], { min: 1, max: 1, required: true });
  for (const { item: child, place: at } of children) {
    if (child["type"] !== COMPONENT.text_input) {
      refuse(below(at, "type"), "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (4,).');
      continue;
    }
    checkText(below(at, "label"), child["label"], { min: 1, max: 45, required: true });
    checkField(ids, at, child);
  }
}

function checkField(ids: Set<string>, place: Place, item: JsonObject): void {
  const type = item["type"];
  if (typeof type !== "number" || !IN_LABEL.includes(type)) {
    const list = IN_LABEL.join(", ");
    return refuse(below(place, "type"), "UNION_TYPE_CHOICES", `Value of field "type" must be one of (${list}).`);
  }
  const id = checkText(below(place, "custom_id"), item["custom_id"], { min: 1, max: 100, required: true });
  if (id !== null && ids.has(id)) {
    refuse(below(place, "custom_id"), "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
  }
  if (id !== null) ids.add(id);
  checkBoolean(below(place, "required"), item["required"]);
  if (item["disabled"] === true) {
    refuse(below(place, "disabled"), "COMPONENT_DISABLED_IN_MODAL", "A component in a modal cannot be disabled");
  }
  checkFieldBody(place, item);
}

function checkFieldBody(place: Place, item: JsonObject): void {
  switch (item["type"]) {
    case COMPONENT.text_input:
      return checkTextInput(place, item);
    case COMPONENT.radio_group:
      return checkOptions(below(place, "options"), item["options"], { min: 2, max: 10 });
    case COMPONENT.checkbox_group:
      return checkOptions(below(place, "options"), item["options"], { min: 1, max: 10 });
    case COMPONENT.checkbox:
      return checkBoolean(below(place, "default"), item["default"]);
    case COMPONENT.file_upload:
      checkInteger(below(place, "min_values"), item["min_values"], { min: 0, max: 10 });
      checkInteger(below(place, "max_values"), item["max_values"], { min: 1, max: 10 });
      return;
    default:
      checkSelectBody(place, item);
  }
}

function checkTextInput(place: Place, item: JsonObject): void {
  checkChoice(below(place, "style"), item["style"], [1, 2]);
  checkText(below(place, "placeholder"), item["placeholder"], { max: 100 });
  const min = checkInteger(below(place, "min_length"), item["min_length"], { min: 0, max: 4000 }) ?? 0;
  const max = checkInteger(below(place, "max_length"), item["max_length"], { min: 1, max: 4000 }) ?? 4000;
  if (min > max) refuse(below(place, "min_length"), "BASE_TYPE_BAD_RANGE", "min_length is above max_length.");
  checkText(below(place, "value"), item["value"], { max });
}
