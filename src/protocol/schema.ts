/**
 * The few builders of JSON Schema that the protocol needs, with typebox's types and without its 700 modules: loading
 * those takes longer than loading the whole HTTP server. Imported as `import * as Type`.
 */
import type Typebox from "typebox";

export type { Static, TSchema } from "typebox";

type Schema = Record<string, unknown>;

type Builders = Pick<
  typeof Typebox,
  | "Array"
  | "Boolean"
  | "Enum"
  | "Integer"
  | "Literal"
  | "Null"
  | "Number"
  | "Object"
  | "Optional"
  | "Record"
  | "String"
  | "Union"
  | "Unknown"
>;

const optional = new WeakSet<Schema>();

const plain = {
  Array: (items: Schema, options: Schema = {}) => ({ type: "array", items, ...options }),
  Boolean: (options: Schema = {}) => ({ type: "boolean", ...options }),
  Enum: (values: readonly unknown[], options: Schema = {}) => ({ enum: [...values], ...options }),
  Integer: (options: Schema = {}) => ({ type: "integer", ...options }),
  Literal: (value: unknown, options: Schema = {}) => ({ type: typeof value, const: value, ...options }),
  Null: (options: Schema = {}) => ({ type: "null", ...options }),
  Number: (options: Schema = {}) => ({ type: "number", ...options }),
  Object(properties: Record<string, Schema>, options: Schema = {}) {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name] ?? {}));
    return { type: "object", ...(required.length > 0 ? { required } : {}), properties, ...options };
  },
  Optional(schema: Schema) {
    const marked = { ...schema };
    optional.add(marked);
    return marked;
  },
  Record: (keys: Schema, values: Schema, options: Schema = {}) => ({
    type: "object",
    propertyNames: keys,
    additionalProperties: values,
    ...options,
  }),
  String: (options: Schema = {}) => ({ type: "string", ...options }),
  Union: (anyOf: readonly Schema[], options: Schema = {}) => ({ anyOf, ...options }),
  Unknown: (options: Schema = {}) => ({ ...options }),
};

// What the functions above return is what typebox's types describe, except for markers that only typebox itself reads.
const builders = plain as unknown as Builders;

const {
  Array: arrayOf,
  Boolean: booleanOf,
  Enum: enumOf,
  Integer: integerOf,
  Literal: literalOf,
  Null: nullOf,
  Number: numberOf,
  Object: objectOf,
  Optional: optionalOf,
  Record: recordOf,
  String: stringOf,
  Union: unionOf,
  Unknown: unknownOf,
} = builders;

export {
  arrayOf as Array,
  booleanOf as Boolean,
  enumOf as Enum,
  integerOf as Integer,
  literalOf as Literal,
  nullOf as Null,
  numberOf as Number,
  objectOf as Object,
  optionalOf as Optional,
  recordOf as Record,
  stringOf as String,
  unionOf as Union,
  unknownOf as Unknown,
};
