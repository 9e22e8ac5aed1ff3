import { visible, visibleLine } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { type McpChoice, type McpField, type McpFieldKind } from "../protocol/mcp_request.ts";

/** A form of more fields would be refused by people as well. */
const FIELDS_MAX = 25;
/** As many as a menu of Discord holds. */
const CHOICES_MAX = 25;
const WORDS_LENGTH_MAX = 500;

export type ReadForm = { ok: true; fields: McpField[] } | { ok: false; error: string };

/** Reads what an MCP server asks people for: a flat object of texts, numbers, yes or no, and choices. */
export function readForm(schema: JsonValue | undefined): ReadForm {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  if (!isJsonObject(schema) || !isJsonObject(properties)) return refused("requestedSchema names no properties");
  const entries = Object.entries(properties);
  if (entries.length > FIELDS_MAX) return refused(`a form has ${FIELDS_MAX} fields at most`);
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const fields: McpField[] = [];
  for (const [name, property] of entries) {
    const kind = isJsonObject(property) ? readKind(property) : null;
    if (!isJsonObject(property) || kind === null) return refused(`${JSON.stringify(name)} is of no known kind`);
    fields.push({
      name,
      title: wordsOf(property["title"]) || visibleLine(name).slice(0, WORDS_LENGTH_MAX),
      description: wordsOf(property["description"]),
      required: required.has(name),
      ...kind,
    });
  }
  return { ok: true, fields };
}

function refused(error: string): ReadForm {
  return { ok: false, error };
}

function readKind(property: JsonObject): McpFieldKind | null {
  switch (property["type"]) {
    case "string":
      return choicesOf(property) === null ? readText(property) : readChoice(property, property, false);
    case "number":
    case "integer":
      return {
        type: "number",
        integer: property["type"] === "integer",
        minimum: numberOf(property["minimum"]),
        maximum: numberOf(property["maximum"]),
        default: numberOf(property["default"]),
      };
    case "boolean":
      return { type: "boolean", default: typeof property["default"] === "boolean" ? property["default"] : null };
    case "array":
      return isJsonObject(property["items"]) ? readChoice(property, property["items"], true) : null;
    default:
      return null;
  }
}

function readText(property: JsonObject): McpFieldKind {
  return {
    type: "text",
    format: FORMATS.find((format) => format === property["format"]) ?? null,
    length_min: numberOf(property["minLength"]) ?? 0,
    length_max: numberOf(property["maxLength"]),
    default: typeof property["default"] === "string" ? property["default"] : null,
  };
}

const FORMATS = ["email", "uri", "date", "date-time"] as const;

function readChoice(property: JsonObject, holder: JsonObject, multiple: boolean): McpFieldKind | null {
  const choices = choicesOf(holder);
  if (choices === null || choices.length === 0 || choices.length > CHOICES_MAX) return null;
  const given = property["default"];
  const wanted = Array.isArray(given) ? given : [given];
  return {
    type: "choice",
    choices,
    multiple,
    chosen_min: multiple ? (numberOf(property["minItems"]) ?? 0) : 1,
    chosen_max: multiple ? Math.min(numberOf(property["maxItems"]) ?? choices.length, choices.length) : 1,
    default: choices.map(({ value }) => value).filter((value) => wanted.includes(value)),
  };
}

/** A choice is an `enum` with or without `enumNames`, or a `oneOf` (`anyOf` for several) of constants with titles. */
function choicesOf(holder: JsonObject): McpChoice[] | null {
  const { enum: values, enumNames: names, oneOf, anyOf } = holder;
  if (Array.isArray(values)) {
    const titles = Array.isArray(names) ? names : [];
    return values
      .filter((value) => typeof value === "string")
      .map((value, index) => ({ value, title: wordsOf(titles[index]) || wordsOf(value) || "(empty)" }));
  }
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  if (!Array.isArray(titled)) return null;
  return titled
    .filter(isJsonObject)
    .flatMap(({ const: value, title }) =>
      typeof value === "string" ? [{ value, title: wordsOf(title) || wordsOf(value) || "(empty)" }] : [],
    );
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function wordsOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? visible(value).replace(/\s+/g, " ").trim().slice(0, WORDS_LENGTH_MAX) : "";
}
