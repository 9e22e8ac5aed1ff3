import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import type { Upload } from "../files.ts";
import type { World } from "../model.ts";

/** A request of the bot, read and checked for form. */
export interface Call {
  world: World;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string | undefined>>;
  /** The JSON body; an empty object where there is none. */
  body: JsonObject;
  /** The JSON body when it is a list, as command overwrites send. */
  list: JsonValue[];
  files: readonly Upload[];
}

export interface Reply {
  status: number;
  /** Absent for 204. */
  body?: JsonValue;
}

/** One route. Handlers throw `DiscordFailure` to refuse. */
export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the version, with `:names`. */
  path: string;
  /** Whether the bot's token is needed; routes with an interaction token go without. */
  authorized: boolean;
  handle(call: Call): Reply;
}

/** A route that needs the bot's token. */
export function route(method: Route["method"], path: string, handle: Route["handle"]): Route {
  return { method, path, authorized: true, handle };
}

/** A route that an interaction's token opens. */
export function tokenRoute(method: Route["method"], path: string, handle: Route["handle"]): Route {
  return { method, path, authorized: false, handle };
}

export function ok(body: JsonValue): Reply {
  return { status: 200, body };
}

export const NOTHING: Reply = { status: 204 };

/** A parameter that the route's path names. */
export function param(call: Call, name: string): string {
  const value = call.params[name];
  if (value === undefined) throw new Error(`The route has no parameter ${name}.`);
  return value;
}
