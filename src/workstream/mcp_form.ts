import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { type McpField, MCP_TEXT_LENGTH_MAX } from "../protocol/mcp_request.ts";

/** What was given for a form. `missing`: names of required fields without a value. */
export type TakenValues = { ok: true; values: JsonObject; missing: string[] } | { ok: false; error: string };

/**
 * Checks what people gave against what a form asks for. Forms of chat platforms hold texts only, so a number may come
 * as its digits and a yes or no as a word; an empty text and null are no value, which leaves an optional field out.
 */
export function takeValues(fields: readonly McpField[], given: JsonObject): TakenValues {
  const values: JsonObject = {};
  for (const [name, value] of Object.entries(given)) {
    const field = fields.find((one) => one.name === name);
    if (field === undefined) return { ok: false, error: `This form has no field ${JSON.stringify(name)}.` };
    if (value === null || value === "") continue;
    const taken = takeValue(field, value);
    if (!taken.ok) return { ok: false, error: `${field.title}: ${taken.error}` };
    Object.defineProperty(values, name, { value: taken.value, enumerable: true, configurable: true, writable: true });
  }
  const missing = fields.filter(({ name, required }) => required && !Object.hasOwn(values, name));
  return { ok: true, values, missing: missing.map(({ name }) => name) };
}

type Taken = { ok: true; value: JsonValue } | { ok: false; error: string };

function takeValue(field: McpField, value: JsonValue): Taken {
  switch (field.type) {
    case "text":
      return takeText(field, value);
    case "number":
      return takeNumber(field, value);
    case "boolean":
      return takeBoolean(value);
    case "choice":
      return takeChoice(field, value);
  }
}

function takeText(field: Extract<McpField, { type: "text" }>, value: JsonValue): Taken {
  if (typeof value !== "string") return { ok: false, error: "a text is asked for." };
  // JSON Schema counts code points.
  const length = Array.from(value).length;
  const length_max = Math.min(field.length_max ?? MCP_TEXT_LENGTH_MAX, MCP_TEXT_LENGTH_MAX);
  if (length < field.length_min) return { ok: false, error: `at least ${field.length_min} characters are asked for.` };
  if (length > length_max) return { ok: false, error: `at most ${length_max} characters are asked for.` };
  const wanted = field.format === null ? null : FORMATS[field.format];
  return wanted === null || wanted.fits(value) ? { ok: true, value } : { ok: false, error: wanted.error };
}

const FORMATS = {
  email: {
    fits: (text: string): boolean => /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)*$/.test(text),
    error: "an e-mail address is asked for, such as ana@example.org.",
  },
  uri: {
    fits: (text: string): boolean => URL.canParse(text),
    error: "an address is asked for, such as https://example.org/page.",
  },
  date: {
    fits: (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text),
    error: "a date is asked for, such as 2026-03-31.",
  },
  "date-time": {
    fits: (text: string): boolean =>
      /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text) &&
      isDay(text.slice(0, 10)) &&
      !Number.isNaN(Date.parse(text)),
    error: "a date with its time and zone is asked for, such as 2026-03-31T18:30:00Z.",
  },
} as const;

/** JavaScript takes 30 February for a day in March. */
function isDay(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}

function takeNumber(field: Extract<McpField, { type: "number" }>, value: JsonValue): Taken {
  const number = typeof value === "string" && /^\s*[-+]?[\d.]/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return { ok: false, error: "a number is asked for." };
  if (field.integer && !Number.isSafeInteger(number)) return { ok: false, error: "a whole number is asked for." };
  const { minimum, maximum } = field;
  if (minimum !== null && number < minimum) return { ok: false, error: `at least ${minimum} is asked for.` };
  if (maximum !== null && number > maximum) return { ok: false, error: `at most ${maximum} is asked for.` };
  return { ok: true, value: number };
}

function takeBoolean(value: JsonValue): Taken {
  const word = typeof value === "string" ? value.trim().toLowerCase() : value;
  if (word === true || word === "true" || word === "yes") return { ok: true, value: true };
  if (word === false || word === "false" || word === "no") return { ok: true, value: false };
  return { ok: false, error: "yes or no is asked for." };
}

function takeChoice(field: Extract<McpField, { type: "choice" }>, value: JsonValue): Taken {
  const chosen = (Array.isArray(value) ? value : [value]).map((one) =>
    field.choices.find((choice) => choice.value === one || choice.title === one),
  );
  const known = chosen.filter((choice) => choice !== undefined).map((choice) => choice.value);
  if (known.length < chosen.length) {
    const titles = field.choices.map(({ title }) => title).join(", ");
    return { ok: false, error: `one of these is asked for: ${titles}.` };
  }
  const distinct = [...new Set(known)];
  if (!field.multiple) {
    const [only] = distinct;
    return only === undefined || distinct.length > 1
      ? { ok: false, error: "one choice is asked for." }
      : { ok: true, value: only };
  }
  if (distinct.length < field.chosen_min) return { ok: false, error: `at least ${field.chosen_min} are asked for.` };
  if (distinct.length > field.chosen_max) return { ok: false, error: `at most ${field.chosen_max} are asked for.` };
  return { ok: true, value: distinct };
}
