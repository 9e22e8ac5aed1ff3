import { ErrorAnswer } from "../protocol/answers.ts";
import type { TSchema } from "../protocol/schema.ts";
import type { Route } from "./route.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of these routes, made of the schemas that validate them. */
export function openApiDocument(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "turnstone", version, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: [{ url: "/" }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "A JWT of a login, or an API token" },
        cookie: { type: "apiKey", in: "cookie", name: "turnstone_auth" },
      },
      schemas: { Error: ErrorAnswer },
    },
  };
}

function operation(route: Route): Json {
  const open = route.scope === "public";
  const body = requestBody(route);
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [tag(route.path)],
    "x-turnstone-scope": route.scope,
    security: open ? [] : [{ bearer: [] }, { cookie: [] }],
    parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
    ...(body === null ? {} : { requestBody: body }),
    responses: { [String(route.status ?? 200)]: success(route), ...failures(route) },
  };
}

function operationId({ method, path }: Route): string {
  const words = path.replace(/^\/v1\/api/, "").match(/[a-z_]+/g) ?? [];
  return [method.toLowerCase(), ...words].join("_");
}

function tag(path: string): string {
  return /^\/v1\/api\/([a-z]+)/.exec(path)?.[1] ?? "system";
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: TSchema | null): Json[] {
  const { properties = {}, required = [] } = (query ?? {}) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function requestBody(route: Route): Json | null {
  if (route.multipart === true) {
    const schema = { type: "object", required: ["file"], properties: { file: { type: "string", format: "binary" } } };
    return { required: true, content: { "multipart/form-data": { schema } } };
  }
  if (route.body === null) return null;
  const { required = [] } = route.body as { required?: string[] };
  return { required: required.length > 0, content: { "application/json": { schema: route.body } } };
}

function success({ answer, media_type = "application/json" }: Route): Json {
  const content = answer === null ? { [media_type]: {} } : { "application/json": { schema: answer } };
  return { description: "Success", content };
}

function failures(route: Route): Json {
  const guarded =
    route.scope === "public" ? {} : { 401: "No valid credential", 403: "The credential does not allow it" };
  const named = route.path.includes(":") ? { 404: "Not there, or not for the caller" } : {};
  const checked =
    route.body === null && route.query === null ? {} : { 400: "The request is not valid; names the field" };
  const sized = route.body === null && route.multipart !== true ? {} : { 413: "The body is too large" };
  const changing = route.method === "GET" ? {} : { 409: "It no longer fits what is" };
  const limited = route.unlimited === true ? {} : { 429: "Too many requests; see Retry-After" };
  const reasons = { ...checked, ...guarded, ...named, ...changing, ...sized, ...limited };
  return Object.fromEntries(Object.entries(reasons).map(([status, description]) => [status, failure(description)]));
}

function failure(description: string): Json {
  return { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } };
}
