import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { mintJwt } from "../auth/jwt.ts";
import { AUDIENCE_CHANNEL, AUDIENCE_SERVER } from "../protocol/auth.ts";
import { PATHS } from "../protocol/paths.ts";
import { bearer, createRig, type Rig, SECRET } from "./testing/rig.ts";

/** What a route's scope lets each kind of caller do. A scope that is not here, or a route without one, fails. */
const ADMITTED: Record<string, readonly string[]> = {
  public: ["nobody", "read", "write", "approve", "service", "bad"],
  loopback_or_read: ["nobody", "read", "write", "approve", "service", "bad"],
  read: ["read", "write", "approve"],
  write: ["write", "approve"],
  approve: ["approve"],
  service: ["service"],
};

/** Routes that a gateway may call for nobody; what it may do there is decided by the workstream. */
const GATEWAY_TOO = new Set([
  "GET /v1/api/workstreams/{ws_id}/history",
  "POST /v1/api/workstreams/{ws_id}/approve",
  "POST /v1/api/workstreams/{ws_id}/plan",
  "POST /v1/api/workstreams/{ws_id}/mcp_requests/{request_id}",
  "POST /v1/api/workstreams/{ws_id}/close",
  "POST /v1/api/workstreams/new",
]);

interface Operation {
  name: string;
  method: "GET" | "POST" | "DELETE";
  path: string;
  scope: string;
}

async function operationsOf(rig: Rig): Promise<Operation[]> {
  const document = (await rig.app.inject("/openapi.json")).json<{
    paths: Record<string, Record<string, Record<string, string>>>;
  }>();
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const upper = method.toUpperCase() as Operation["method"];
      return { name: `${upper} ${path}`, method: upper, path, scope: String(operation["x-turnstone-scope"]) };
    }),
  );
}

async function statusOf(
  rig: Rig,
  operation: Operation,
  headers: Record<string, string>,
  ws_id: string,
): Promise<number> {
  const controller = new AbortController();
  const path = operation.path.replace("{ws_id}", ws_id).replace(/\{\w+\}/g, "none");
  const response = await fetch(rig.app.listeningOrigin + path, {
    method: operation.method,
    signal: controller.signal,
    headers: { ...headers, ...(operation.method === "POST" ? { "content-type": "application/json" } : {}) },
    ...(operation.method === "POST" ? { body: "{}" } : {}),
  });
  controller.abort();
  return response.status;
}

const kindOf = (status: number): string => (status === 401 || status === 403 ? String(status) : "in");

// REQ-SERVER-001
test("every route lets in whom its scope names, and nobody else (AUTH-03, AUTH-05, AUTH-07, APPR-19)", async () => {
  const rig = await createRig();
  await rig.listen();
  const owner = await rig.person("owner");
  const other = await rig.person("other");
  const ws_id = await rig.workstream(owner);
  const soon = { sub: owner.user_id, scopes: "approve", lifetime_s: 60 };
  const revoked = await rig.person("revoked");
  await rig.store.users.revokeToken(revoked.token_id, new Date().toISOString());
  const deleted = await rig.person("deleted");
  const deleted_session = await mintJwt(SECRET, rig.clock, {
    ...soon,
    sub: deleted.user_id,
    audience: AUDIENCE_SERVER,
  });
  await rig.store.users.remove(deleted.user_id);
  const expired = await new SignJWT({ scopes: "approve" })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(owner.user_id)
    .setIssuer("turnstone")
    .setAudience(AUDIENCE_SERVER)
    .setIssuedAt(1)
    .setExpirationTime(2)
    .sign(SECRET);
  const good: Record<string, Record<string, string>> = { nobody: {}, service: bearer(await rig.serviceToken()) };
  for (const scope of ["read", "write", "approve"]) {
    const scopes = { sub: owner.user_id, scopes: scope, audience: AUDIENCE_SERVER, lifetime_s: 60 } as const;
    good[scope] = bearer(await mintJwt(SECRET, rig.clock, scopes));
  }
  const logged_out = bearer(await mintJwt(SECRET, rig.clock, { ...soon, audience: AUDIENCE_SERVER }));
  await rig.app.inject({ method: "POST", url: PATHS.logout, headers: logged_out });
  const bad = {
    logged_out,
    revoked: bearer(revoked.token),
    deleted_token: bearer(deleted.token),
    deleted_session: bearer(deleted_session),
    expired: bearer(expired),
    wrong_audience: bearer(await mintJwt(SECRET, rig.clock, { ...soon, audience: AUDIENCE_CHANNEL })),
    wrong_secret: bearer(await mintJwt(new Uint8Array(32), rig.clock, { ...soon, audience: AUDIENCE_SERVER })),
    wrong_scheme: { authorization: "Basic b3duZXI6cGFzc3dvcmQ=" },
  };
  const wrong: string[] = [];
  const expectKind = (operation: Operation, caller: string, status: number, wanted: string): void => {
    if (kindOf(status) !== wanted) wrong.push(`${operation.name} as ${caller}: ${status}, not ${wanted}`);
    if (status >= 500) wrong.push(`${operation.name} as ${caller}: ${status}`);
  };
  // Logging out ends the very sessions with which the others are asked for, so it comes last.
  const operations = (await operationsOf(rig)).toSorted(
    (one, other) => Number(one.path === PATHS.logout) - Number(other.path === PATHS.logout),
  );
  expect(operations.length).toBeGreaterThan(50);
  for (const operation of operations) {
    const admitted = ADMITTED[operation.scope];
    if (admitted === undefined) {
      wrong.push(`${operation.name} has no scope that this test knows`);
      continue;
    }
    // The owner's workstream stays: what would delete or close it is asked for about another one.
    const about = /delete|close/.test(operation.path) ? await rig.workstream(owner) : ws_id;
    for (const [caller, headers] of Object.entries(good)) {
      const gateway_too = caller === "service" && GATEWAY_TOO.has(operation.name);
      const refused = caller === "nobody" ? "401" : "403";
      const may = admitted.includes(caller);
      const status = await statusOf(rig, operation, headers, about);
      if (!gateway_too && operation.scope !== "public") expectKind(operation, caller, status, may ? "in" : refused);
      else if (status >= 500) wrong.push(`${operation.name} as ${caller}: ${status}`);
    }
    for (const [caller, headers] of Object.entries(bad)) {
      const status = await statusOf(rig, operation, headers, ws_id);
      if (operation.scope !== "public") expectKind(operation, caller, status, admitted.includes("bad") ? "in" : "401");
    }
    if (operation.path.includes("{ws_id}")) {
      const status = await statusOf(rig, operation, bearer(other.token), ws_id);
      // A body that is not valid is refused before anything is looked up, alike for every workstream.
      if (status !== 404 && status !== 400) wrong.push(`${operation.name} as another person: ${status}`);
    }
  }
  expect(wrong).toEqual([]);
}, 60_000);

test("another person learns nothing of a workstream (AUTH-04, REQ-SERVER-002)", async () => {
  const rig = await createRig();
  const owner = await rig.person("owner");
  const other = await rig.person("other");
  const ws_id = await rig.workstream(owner);
  const about = (id: string) =>
    [
      ["GET", `/v1/api/workstreams/${id}/history`, undefined],
      ["GET", `/v1/api/workstreams/${id}/events`, undefined],
      ["POST", `/v1/api/workstreams/${id}/send`, { message: "hello" }],
      ["POST", `/v1/api/workstreams/${id}/approve`, { approved: true }],
      ["POST", `/v1/api/workstreams/${id}/plan`, { feedback: "" }],
      ["POST", `/v1/api/workstreams/${id}/cancel`, {}],
      ["POST", `/v1/api/workstreams/${id}/rewind`, { turns: 1 }],
      ["POST", `/v1/api/workstreams/${id}/retry`, {}],
      ["POST", `/v1/api/workstreams/${id}/close`, {}],
      ["POST", `/v1/api/workstreams/${id}/delete`, {}],
      ["POST", `/v1/api/workstreams/${id}/invite`, { username: "other" }],
      ["POST", "/v1/api/command", { command: "/title mine", ws_id: id }],
      ["POST", "/v1/api/workstreams/new", { resume_ws: id }],
    ] as const;
  const ask = async (id: string): Promise<unknown[]> => {
    const answers = [];
    for (const [method, url, payload] of about(id)) {
      const options = { method, url, headers: bearer(other.token), ...(payload === undefined ? {} : { payload }) };
      const answer = await rig.app.inject(options);
      answers.push([answer.statusCode, answer.json()]);
    }
    return answers;
  };
  const existing = await ask(ws_id);
  expect(existing).toEqual(await ask("f".repeat(32)));
  expect(existing.every((answer) => (answer as [number])[0] === 404)).toBe(true);
  const list = await rig.app.inject({ url: "/v1/api/workstreams", headers: bearer(other.token) });
  expect(list.json()).toEqual({ workstreams: [] });
  expect((await rig.store.workstreams.get(ws_id))?.last_seq).toBe(0);
});

test("the document is OpenAPI 3.1 and names each operation once (REQ-SERVER-003)", async () => {
  const { app } = await createRig();
  const document = (await app.inject("/openapi.json")).json<Record<string, never>>();
  expect(document["openapi"]).toBe("3.1.0");
  const ids = Object.values<Record<string, { operationId: string }>>(document["paths"] ?? {})
    .flatMap((methods) => Object.values(methods))
    .map((operation) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const root = await app.inject("/");
  expect([root.statusCode, root.headers.location]).toEqual([302, "/docs"]);
  expect((await app.inject("/docs")).body).toContain("/docs/swagger-ui-bundle.js");
  expect((await app.inject("/docs/swagger-ui-bundle.js")).statusCode).toBe(200);
  expect((await app.inject("/docs/..%2Fpackage.json")).statusCode).toBe(404);
});
