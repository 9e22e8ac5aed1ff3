import { createRequire } from "node:module";
import type * as AjvModule from "ajv";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { TSchema } from "../protocol/schema.ts";
import { invalid } from "./failures.ts";

const require = createRequire(import.meta.url);

/** Which part of a request a schema is for. Query strings hold text alone, so there `"5"` counts as 5. */
export type RequestPart = "body" | "querystring";

const validators: Partial<Record<RequestPart, Ajv>> = {};

/** Loads ajv at the first request that needs it: it takes a tenth of the start otherwise. */
function validatorFor(part: RequestPart): Ajv {
  const { Ajv: AjvClass } = require("ajv") as typeof AjvModule;
  const options = {
    strict: false,
    allErrors: false,
    coerceTypes: part === "querystring",
    useDefaults: false,
    validateSchema: false,
  };
  return (validators[part] ??= new AjvClass(options));
}

/** A check of one part of a request, compiled when it is first used. It answers a failure as Fastify wants it. */
export function lazyValidator(schema: TSchema, part: RequestPart): (data: unknown) => true | { error: Error } {
  let validate: ValidateFunction | undefined;
  return (data) => {
    validate ??= validatorFor(part).compile(schema);
    if (validate(data)) return true;
    return { error: failureOf(validate.errors?.[0]) };
  };
}

/** A 400 that names the field and says what belongs there. */
function failureOf(error: ErrorObject | undefined): Error {
  if (error === undefined) return invalid("The request is not valid.");
  const field = fieldOf(error);
  if (field === "") return invalid(`The body ${explain(error)}.`, { field: null });
  return invalid(`"${field}" ${explain(error)}.`, { field });
}

function fieldOf(error: ErrorObject): string {
  const path = error.instancePath.split("/").slice(1).map(unescapePointer);
  const extra = extraName(error);
  return (extra === null ? path : [...path, extra]).join(".");
}

function extraName(error: ErrorObject): string | null {
  const { missingProperty, additionalProperty, propertyName } = error.params as Record<string, unknown>;
  const name = missingProperty ?? additionalProperty ?? propertyName;
  return typeof name === "string" ? name : null;
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function explain(error: ErrorObject): string {
  switch (error.keyword) {
    case "required":
      return "is missing";
    case "additionalProperties":
      return "is not known here";
    case "enum":
      return `must be one of ${(error.params as { allowedValues: unknown[] }).allowedValues.join(", ")}`;
    case "type":
      return `must be ${typeName(String((error.params as { type: unknown }).type))}`;
    case "pattern":
      return "does not have the right form";
    default:
      return BOUNDS[error.keyword]?.(Number(limitOf(error))) ?? error.message ?? "is not valid";
  }
}

/** The limits that a schema can set, in words. */
const BOUNDS: Readonly<Record<string, (limit: number) => string>> = {
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  minLength: (limit) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
  maxLength: (limit) => `must have at most ${limit} characters`,
  minItems: (limit) => (limit === 1 ? "must not be empty" : `must have at least ${limit} entries`),
  maxItems: (limit) => `must have at most ${limit} entries`,
  maxProperties: (limit) => `must have at most ${limit} entries`,
};

function limitOf({ params }: ErrorObject): unknown {
  return (params as { limit?: unknown }).limit;
}

function typeName(type: string): string {
  if (type === "object") return "a JSON object";
  if (type === "array") return "a list";
  if (type === "string") return "text";
  if (type === "boolean") return "true or false";
  return type === "integer" ? "a whole number" : `a ${type}`;
}
