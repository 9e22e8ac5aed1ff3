import { isJsonObject } from "../../../src/protocol/json.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import type { Form } from "../failure.ts";

/** Where in a form we are. */
export interface Place {
  form: Form;
  path: readonly (string | number)[];
}

export function below(place: Place, ...keys: (string | number)[]): Place {
  return { form: place.form, path: [...place.path, ...keys] };
}

export function refuse(place: Place, code: string, message: string): void {
  place.form.add(place.path, code, message);
}

type Maybe = JsonValue | undefined;

/** A text of `min` to `max` UTF-16 units. Absent and null count as missing; returns the text when it is one. */
export function checkText(
  place: Place,
  value: Maybe,
  limits: { min?: number; max: number; required?: boolean },
): string | null {
  if (value === undefined || value === null) {
    if (limits.required === true) refuse(place, "BASE_TYPE_REQUIRED", "This field is required");
    return null;
  }
  if (typeof value !== "string") {
    refuse(place, "STRING_TYPE_CONVERT", "Could not interpret value as string.");
    return null;
  }
  const min = limits.min ?? 0;
  if (!value.isWellFormed()) refuse(place, "STRING_TYPE_CONVERT", "Half of a surrogate pair is not a character.");
  if (min > 0 && value.trim().length === 0) refuse(place, "BASE_TYPE_REQUIRED", "This field is required");
  else if (value.length < min || value.length > limits.max) {
    if (min === 0) refuse(place, "BASE_TYPE_MAX_LENGTH", `Must be ${limits.max} or fewer in length.`);
    else refuse(place, "BASE_TYPE_BAD_LENGTH", `Must be between ${min} and ${limits.max} in length.`);
  }
  return value;
}

/** A whole number from `min` to `max`. */
export function checkInteger(
  place: Place,
  value: Maybe,
  limits: { min: number; max: number; required?: boolean },
): number | null {
  if (value === undefined || value === null) {
    if (limits.required === true) refuse(place, "BASE_TYPE_REQUIRED", "This field is required");
    return null;
  }
  if (typeof value !== "number" || !Number.isInteger(value)) {
    refuse(place, "NUMBER_TYPE_COERCE", `Value "${JSON.stringify(value)}" is not int.`);
    return null;
  }
  if (value < limits.min) {
    refuse(place, "NUMBER_TYPE_MIN", `int value should be greater than or equal to ${limits.min}.`);
  }
  if (value > limits.max) {
    refuse(place, "NUMBER_TYPE_MAX", `int value should be less than or equal to ${limits.max}.`);
  }
  return value;
}

export function checkBoolean(place: Place, value: Maybe): void {
  if (value === undefined || value === null || typeof value === "boolean") return;
  refuse(place, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.");
}

/** A list of `min` to `max` objects; what is not an object is refused where it stands and left out. */
export function checkObjects(
  place: Place,
  value: Maybe,
  limits: { min?: number; max: number; required?: boolean },
): { item: JsonObject; place: Place }[] {
  if (value === undefined || value === null) {
    if (limits.required === true) refuse(place, "BASE_TYPE_REQUIRED", "This field is required");
    return [];
  }
  if (!Array.isArray(value)) {
    refuse(place, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.");
    return [];
  }
  checkCount(place, value.length, limits.min ?? 0, limits.max);
  return value.flatMap((item, index) => {
    if (isJsonObject(item)) return [{ item, place: below(place, index) }];
    refuse(below(place, index), "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType.");
    return [];
  });
}

export function checkCount(place: Place, count: number, min: number, max: number): void {
  if (count >= min && count <= max) return;
  if (min === 0) refuse(place, "BASE_TYPE_MAX_LENGTH", `Must be ${max} or fewer in length.`);
  else refuse(place, "BASE_TYPE_BAD_LENGTH", `Must be between ${min} and ${max} in length.`);
}

export function checkChoice(place: Place, value: Maybe, choices: readonly (string | number)[]): boolean {
  if (value === undefined || value === null) {
    refuse(place, "BASE_TYPE_REQUIRED", "This field is required");
    return false;
  }
  if ((typeof value === "string" || typeof value === "number") && choices.includes(value)) return true;
  const list = choices.join(", ");
  refuse(place, "BASE_TYPE_CHOICES", `Value must be one of {${list}}.`);
  return false;
}

/** A link that Discord takes: http, https or discord; `attachment:` where files may be named. */
export function checkUrl(place: Place, value: Maybe, schemes: readonly string[], required: boolean): string | null {
  const text = checkText(place, value, { max: 2048, required });
  if (text === null) return null;
  const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : null;
  if (scheme !== null && schemes.includes(scheme)) return text;
  const list = schemes.map((one) => `'${one}'`).join(", ");
  refuse(
    place,
    "URL_TYPE_INVALID_SCHEME",
    `Scheme "${scheme ?? ""}" is not supported. Scheme must be one of (${list}).`,
  );
  return null;
}

/** Ids are decimal texts of up to 20 digits. */
export function isSnowflake(value: Maybe): value is string {
  return typeof value === "string" && /^\d{1,20}$/.test(value);
}
