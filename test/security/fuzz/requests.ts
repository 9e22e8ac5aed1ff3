import type { Random } from "./random.ts";
import { brokenBody, nastyText, type Schema, valueFor } from "./values.ts";

/** One operation of an OpenAPI document. */
export interface Operation {
  method: string;
  path: string;
  query: { name: string; schema: Schema }[];
  body: Schema | null;
  multipart: boolean;
}

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** What requests are made of besides chance. */
export interface Pool {
  /** Whole values of the header `authorization`; null sends none. */
  credentials: readonly (string | null)[];
  /** Values that exist, by the name of a parameter. */
  known: Readonly<Record<string, readonly string[]>>;
}

/** The operations of a document. */
export function operationsIn(document: { paths: Record<string, Record<string, Schema>> }): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { parameters = [], requestBody } = operation as {
        parameters?: { name: string; in: string; schema: Schema }[];
        requestBody?: { content: Record<string, { schema: Schema }> };
      };
      return {
        method: method.toUpperCase(),
        path,
        query: parameters.filter((parameter) => parameter.in === "query"),
        body: requestBody?.content["application/json"]?.schema ?? null,
        multipart: requestBody?.content["multipart/form-data"] !== undefined,
      };
    }),
  );
}

/** A request for an operation that may be right, a little wrong or quite wrong. */
export function requestFor(operation: Operation, pool: Pool, random: Random): FuzzRequest {
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => pathValue(name, pool, random));
  const query = operation.query
    .filter(() => random.chance(0.5))
    .map(({ name, schema }) => `${name}=${encoded(String(valueFor(schema, random)))}`);
  const method = random.chance(0.02) ? random.one(["PUT", "PATCH", "OPTIONS", "HEAD", "TRACE"]) : operation.method;
  const body = method === "GET" || method === "HEAD" || method === "TRACE" ? undefined : bodyFor(operation, random);
  return {
    method,
    path: query.length === 0 ? path : `${path}?${query.join("&")}`,
    headers: headersFor(operation, body, pool, random),
    body,
  };
}

function pathValue(name: string, pool: Pool, random: Random): string {
  const known = pool.known[name] ?? [];
  if (known.length > 0 && random.chance(0.7)) return random.one(known);
  return random.chance(0.3)
    ? random.one(["f".repeat(32), "none", "discord", "0"])
    : encoded(nastyText(random)).slice(0, 3000) || "%20";
}

/** As a careful client writes it, and sometimes as a careless one does. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function bodyFor(operation: Operation, random: Random): string | undefined {
  if (operation.multipart) return brokenBody(random);
  if (operation.body === null) return random.chance(0.1) ? brokenBody(random) : undefined;
  return random.chance(0.05) ? brokenBody(random) : JSON.stringify(valueFor(operation.body, random));
}

function headersFor(
  operation: Operation,
  body: string | undefined,
  pool: Pool,
  random: Random,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const credential = random.one(pool.credentials);
  if (credential !== null) headers["authorization"] = credential;
  if (body !== undefined) headers["content-type"] = contentType(operation, random);
  if (random.chance(0.1)) {
    headers["x-turnstone-actor"] = random.one(["discord:1", "discord:", ":", "x".repeat(300), "discord:../../a"]);
  }
  if (random.chance(0.05)) headers["last-event-id"] = random.one(["0", "-1", "9".repeat(30), "abc", "1.5"]);
  if (random.chance(0.05)) {
    headers["cookie"] = random.one(["turnstone_auth=x", "turnstone_auth", ";;;==", `a=${"b".repeat(2000)}`]);
  }
  if (random.chance(0.03)) headers["x-forwarded-for"] = random.one(["127.0.0.1", "::1", "x", "1.2.3.4, 127.0.0.1"]);
  return headers;
}

function contentType(operation: Operation, random: Random): string {
  if (random.chance(0.95)) return operation.multipart ? "multipart/form-data; boundary=x" : "application/json";
  return random.one([
    "text/plain",
    "application/xml",
    "application/json; charset=utf-16",
    "multipart/form-data",
    ";",
    "a/b; c",
  ]);
}
