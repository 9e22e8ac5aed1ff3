import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import type { JsonObject } from "../protocol/json.ts";

/** Checks arguments against a tool's schema: null when they satisfy it, else what is wrong, in words for a model. */
export type SchemaCheck = (args: JsonObject) => Promise<string | null>;

let shared: Promise<Ajv2020> | null = null;

// ajv is loaded and each schema compiled at the first call of a tool: a start pays for neither. Checking schemas
// against their own schema would cost more than all else.
function validator(): Promise<Ajv2020> {
  shared ??= import("ajv/dist/2020.js").then(
    ({ Ajv2020 }) =>
      new Ajv2020({ allErrors: true, strict: false, validateSchema: false, validateFormats: false, logger: false }),
  );
  return shared;
}

/** A check that compiles its schema when it is first needed. */
export function schemaCheck(schema: JsonObject): SchemaCheck {
  let compiled: ValidateFunction | null = null;
  return async (args) => {
    compiled ??= (await validator()).compile(schema);
    if (compiled(args)) return null;
    const problems = (compiled.errors ?? []).slice(0, PROBLEMS_SHOWN_MAX).map((error) => {
      if (error.keyword === "required") return `${String(error.params["missingProperty"])} is missing`;
      if (error.keyword === "additionalProperties") return `${String(error.params["additionalProperty"])} is not known`;
      const where = error.instancePath.replace(/^\//, "").replaceAll("/", ".") || "the arguments";
      return `${where} ${error.message ?? "is not valid"}`;
    });
    return problems.join("; ");
  };
}

/** The same for schemas of others: one that cannot be compiled checks nothing, since its own server checks too. */
export function lenientSchemaCheck(schema: JsonObject): SchemaCheck {
  const check = schemaCheck(schema);
  let usable: Promise<boolean> | null = null;
  return async (args) => {
    usable ??= check({}).then(
      () => true,
      () => false,
    );
    return (await usable) ? check(args) : null;
  };
}

/** A model mends one or two faults at a time; more would only cost context. */
const PROBLEMS_SHOWN_MAX = 4;
