import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../contracts/principal.ts";
import type { Scope } from "../protocol/auth.ts";
import type { Static, TSchema } from "../protocol/schema.ts";

export type Method = "GET" | "POST" | "DELETE";

/** What a handler gets: a request whose body and query have passed their schemas. */
export interface Call<Body = unknown, Query = unknown> {
  request: FastifyRequest;
  reply: FastifyReply;
  params: Readonly<Record<string, string>>;
  body: Body;
  query: Query;
}

export interface PersonalCall<Body = unknown, Query = unknown> extends Call<Body, Query> {
  principal: Principal;
}

/** Who may call a route: `public` is for everybody, `loopback_or_read` asks callers from elsewhere for `read`. */
export type RouteScope = Scope | "public" | "loopback_or_read";

interface Description {
  method: Method;
  /** One of `PATHS`. */
  path: string;
  summary: string;
  scope: RouteScope;
  /** What a success holds; null for another form than JSON. */
  answer: TSchema | null;
  /** The form of a success that is not JSON. */
  media_type?: string;
  /** Of a success; 200 where absent. */
  status?: number;
  /** Takes multipart form data instead of JSON. */
  multipart?: boolean;
  /** Takes what a form of a page of ours sends instead of JSON; the body is its bytes. */
  form?: boolean;
  /** Also open to a gateway that acts for nobody, where `authorize` lets it. */
  gateway_too?: boolean;
  /** Not counted by the rate limit. */
  unlimited?: boolean;
}

/** One route, with everything that validates it, guards it and documents it. */
export interface Route extends Description {
  body: TSchema | null;
  query: TSchema | null;
  readonly handle: (call: PersonalCall) => unknown;
}

interface Typed<Body extends TSchema, Query extends TSchema> extends Description {
  body?: Body;
  query?: Query;
}

/** Declares a route for people and gateways. The handler's body and query have the types of their schemas. */
export function route<Body extends TSchema = TSchema, Query extends TSchema = TSchema>(
  declaration: Typed<Body, Query> & {
    scope: Scope;
    readonly handle: (call: PersonalCall<Static<Body>, Static<Query>>) => unknown;
  },
): Route {
  const { body = null, query = null, handle, ...description } = declaration;
  // The schemas have checked what the handler's types promise before it is called.
  return { ...description, body, query, handle: (call) => handle(call as PersonalCall<Static<Body>, Static<Query>>) };
}

/** Declares a route that nobody needs an account for; its handler learns of no principal. */
export function openRoute<Body extends TSchema = TSchema, Query extends TSchema = TSchema>(
  declaration: Typed<Body, Query> & {
    scope: "public" | "loopback_or_read";
    readonly handle: (call: Call<Static<Body>, Static<Query>>) => unknown;
  },
): Route {
  const { body = null, query = null, handle, ...description } = declaration;
  return { ...description, body, query, handle: (call) => handle(call as Call<Static<Body>, Static<Query>>) };
}
