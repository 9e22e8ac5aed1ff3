import { request } from "node:http";
import { expect, test } from "vitest";
import { createRateLimit } from "./rate_limit.ts";
import { bearer, createRig } from "./testing/rig.ts";

async function sendRig(options = {}) {
  const rig = await createRig(options);
  const anna = await rig.person("anna");
  const ws_id = await rig.workstream(anna);
  const headers = bearer(anna.token);
  const send = (payload: unknown, more: Record<string, string> = {}) =>
    rig.app.inject({
      method: "POST",
      url: `/v1/api/workstreams/${ws_id}/send`,
      headers: { ...headers, "content-type": "application/json", ...more },
      payload: payload as string,
    });
  return { ...rig, anna, ws_id, headers, send };
}

test.each<[string, unknown, string | null]>([
  ["a number for a message", { message: 5 }, "message"],
  ["nothing", {}, "message"],
  ["an empty body", "", "message"],
  ["white space for a message", { message: "  \n" }, "message"],
  ["an unknown field", { message: "a", extra: 1 }, "extra"],
  ["a list", "[]", null],
  ["null", "null", null],
  ["a broken body", "{", null],
  ["a poisoned body", '{"message":"a","__proto__":{"x":1}}', null],
  ["an attachment that is not there", { message: "a", attachment_ids: ["nope"] }, "attachment_ids"],
])("%s is a 400 in JSON that names the field (SSE-12)", async (_what, payload, field) => {
  const { send } = await sendRig();
  const answer = await send(payload);
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ code: "invalid_request", error: expect.any(String) });
  expect(answer.json<{ field?: string }>().field ?? null).toBe(field);
});

// REQ-SERVER-004
test("a string where a boolean belongs is an error, not truth; so is a boolean in the depth", async () => {
  const { app, ws_id, headers } = await sendRig();
  const approve = (payload: object) =>
    app.inject({ method: "POST", url: `/v1/api/workstreams/${ws_id}/approve`, headers, payload });
  expect((await approve({ approved: "false" })).json()).toMatchObject({
    field: "approved",
    error: '"approved" must be true or false.',
  });
  expect((await approve({ approved: 1 })).json()).toMatchObject({ field: "approved" });
  expect((await approve({ approved: true, calls: { a: "yes" } })).json()).toMatchObject({ field: "calls.a" });
  expect((await approve({ approved: true, scope: { match: "all", for: "user" } })).json()).toMatchObject({
    field: "scope.match",
  });
});

test("a body that is nested without end is a 400, also where no body is asked for", async () => {
  const { app, ws_id, headers } = await sendRig();
  const payload = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
  const json = { ...headers, "content-type": "application/json" };
  for (const route of ["retry", "send"]) {
    const answer = await app.inject({
      method: "POST",
      url: `/v1/api/workstreams/${ws_id}/${route}`,
      headers: json,
      payload,
    });
    expect(answer.statusCode).toBe(400);
  }
});

test("query strings hold numbers as text, and are checked too", async () => {
  const { app, ws_id, headers } = await sendRig();
  const history = (query: string) => app.inject({ url: `/v1/api/workstreams/${ws_id}/history?${query}`, headers });
  expect((await history("limit=5")).statusCode).toBe(200);
  expect((await history("limit=five")).json()).toMatchObject({ field: "limit" });
  expect((await history("limit=0")).statusCode).toBe(400);
});

test.each([
  [{ turns: 0 }, '"turns" must be at least 1.'],
  [{ turns: 1e300 }, '"turns" must be at most 1000.'],
  [{ turns: 1.5 }, '"turns" must be a whole number.'],
])("what is beyond a limit is told in words: %j", async (payload, error) => {
  const { app, ws_id, headers } = await sendRig();
  const url = `/v1/api/workstreams/${ws_id}/rewind`;
  expect((await app.inject({ method: "POST", url, headers, payload })).json()).toMatchObject({ error, field: "turns" });
});

test.each([
  ["", '"username" must not be empty.'],
  ["x".repeat(5000), '"username" must have at most 64 characters.'],
])("a text that is empty or too long is told in words", async (username, error) => {
  const { app, ws_id, headers } = await sendRig();
  const url = `/v1/api/workstreams/${ws_id}/invite`;
  expect((await app.inject({ method: "POST", url, headers, payload: { username } })).json()).toMatchObject({ error });
});

test("too much is a 413, a foreign format a 415, no content type a 400 (SSE-12, REQ-SERVER-005)", async () => {
  const { app, send, ws_id, headers } = await sendRig();
  const large = await send({ message: "x".repeat(3 * 1024 * 1024) });
  expect([large.statusCode, large.json()]).toMatchObject([413, { code: "too_large" }]);
  expect((await send("message=a", { "content-type": "application/x-www-form-urlencoded" })).statusCode).toBe(415);
  const url = `/v1/api/workstreams/${ws_id}/send`;
  const untyped = await app.inject({ method: "POST", url, headers, payload: Buffer.from("hello") });
  expect(untyped.statusCode).toBe(400);
});

test("addresses of every shape are answered in JSON", async () => {
  const { app, headers } = await sendRig();
  for (const id of ["%00", "..%2f..%2f", "x".repeat(64), "x".repeat(300), "%E2%98%83", "' or 1=1"]) {
    const answer = await app.inject({ url: `/v1/api/workstreams/${encodeURI(id)}/history`, headers });
    expect([id, answer.statusCode]).toEqual([id, 404]);
    expect(answer.json()).toHaveProperty("error");
  }
  const broken = await app.inject({ url: "/v1/api/workstreams/%ZZ/history", headers });
  const badly = "The address is not encoded as addresses are; encode each part of it.";
  expect([broken.statusCode, broken.json()]).toMatchObject([400, { error: badly }]);
  const long = await app.inject({ url: `/v1/api/workstreams/${"x".repeat(4000)}/history`, headers });
  expect([long.statusCode, long.json()]).toMatchObject([414, { error: "A part of the address is too long." }]);
  expect((await app.inject({ url: "/api/workstreams", headers })).statusCode).toBe(404);
});

test("what breaks inside is told with a reference and without its message (SECR-05, REQ-SERVER-006)", async () => {
  const { app, engine, ws_id, headers, log } = await sendRig();
  engine.failure = new Error("disk /var/secret is on fire");
  const answer = await app.inject({
    method: "POST",
    url: "/v1/api/command",
    headers,
    payload: { command: "/clear", ws_id },
  });
  expect(answer.statusCode).toBe(500);
  expect(answer.body).not.toContain("secret");
  const { reference_id } = answer.json<{ reference_id: string }>();
  expect(log.find((line) => line.includes(reference_id))).toContain("disk /var/secret is on fire");
});

test("no credential reaches the log (SECR-02, REQ-SAFE-003)", async () => {
  const { app, anna, send, log } = await sendRig();
  await send({ message: "hello" });
  await app.inject({
    url: `/v1/api/workstreams?token=${anna.token}`,
    headers: { cookie: `turnstone_auth=${anna.token}` },
  });
  await app.inject({
    method: "POST",
    url: "/v1/api/auth/login",
    payload: { username: "anna", password: "hunter2222" },
  });
  expect(log.length).toBeGreaterThan(0);
  expect(log.join("")).not.toMatch(new RegExp(`${anna.token}|hunter2222`));
});

test("every answer carries the security headers", async () => {
  const { app, headers } = await sendRig();
  for (const url of ["/health", "/nowhere", "/v1/api/workstreams", "/docs"]) {
    const answer = await app.inject({ url, headers });
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
    });
    expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
    expect(String(answer.headers["content-security-policy"])).toContain("default-src 'none'");
  }
});

test("on a loopback address only loopback names are answered to (REQ-SAFE-012)", async () => {
  const local = await createRig({ allowed_hosts: ["turnstone.example"] });
  const open = await createRig({ host: "0.0.0.0" });
  const health = async (rig: typeof local, host: string): Promise<number> =>
    (await rig.app.inject({ url: "/health", headers: { host } })).statusCode;
  for (const host of ["localhost:8080", "127.0.0.1", "[::1]:8080", "turnstone.example:8080"]) {
    expect([host, await health(local, host)]).toEqual([host, 200]);
  }
  for (const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"]) {
    expect([host, await health(local, host)]).toEqual([host, 421]);
  }
  expect(await health(open, "anything.example")).toBe(200);
});

test("metrics are open on this machine and guarded from elsewhere", async () => {
  const { app, headers } = await sendRig({ host: "0.0.0.0" });
  const local = await app.inject("/metrics");
  expect(local.headers["content-type"]).toContain("text/plain");
  expect(local.body).toContain('turnstone_workstreams_by_state{state="idle"} 1');
  const elsewhere = { "x-forwarded-for": "203.0.113.9" };
  expect((await app.inject({ url: "/metrics", headers: elsewhere })).statusCode).toBe(401);
  const known = await app.inject({ url: "/metrics", headers: { ...elsewhere, ...headers } });
  expect(known.body).toContain('turnstone_http_requests_total{method="GET",endpoint="/metrics",status_code="401"} 1');
});

test("health says what it must (REQ-SERVER-024)", async () => {
  const { app } = await sendRig();
  expect((await app.inject("/health")).json()).toMatchObject({
    status: "ok",
    version: "1.2.3",
    node_id: "node-1",
    workstreams: { total: 1, idle: 1, thinking: 0, running: 0, attention: 0, error: 0 },
    backend: { status: "up", circuit_state: "closed" },
    mcp_servers: [{ server: "files", state: "ready", tools: 3 }],
  });
});

test("each credential has its own budget of requests, and health is free (REQ-SERVER-007)", async () => {
  const { app, headers, person } = await sendRig({ rate_limit: { requests_per_second: 1, burst: 3 } });
  const other = bearer((await person("otto")).token);
  const ask = async (with_headers: Record<string, string>): Promise<number> =>
    (await app.inject({ url: "/v1/api/workstreams", headers: with_headers })).statusCode;
  expect([await ask(headers), await ask(headers), await ask(headers), await ask(headers)]).toEqual([
    200, 200, 200, 429,
  ]);
  const limited = await app.inject({ url: "/v1/api/workstreams", headers });
  expect(limited.headers["retry-after"]).toBe("1");
  expect(limited.json()).toMatchObject({ code: "rate_limited" });
  expect(await ask(other)).toBe(200);
  for (let number = 0; number < 10; number += 1) expect((await app.inject("/health")).statusCode).toBe(200);
  const strangers = [];
  for (let number = 0; number < 4; number += 1) strangers.push(await ask(bearer("wrong")));
  expect(strangers).toEqual([401, 401, 401, 429]);
});

test("a bucket fills up at its rate and never beyond its burst", () => {
  let now = 0;
  const limit = createRateLimit(
    { now: () => now, sleep: () => Promise.resolve() },
    { requests_per_second: 10, burst: 2 },
  );
  expect([limit.take("a"), limit.take("a"), limit.take("a"), limit.take("b")]).toEqual([0, 0, 1, 0]);
  now += 100;
  expect([limit.take("a"), limit.take("a")]).toEqual([0, 1]);
  now += 60_000;
  expect([limit.take("a"), limit.take("a"), limit.take("a")]).toEqual([0, 0, 1]);
});

test("a client that never finishes its body does not reach a handler", async () => {
  const { listen, headers, ws_id, engine } = await sendRig();
  const { port } = new URL(await listen());
  const path = `/v1/api/workstreams/${ws_id}/send`;
  const half = request({
    port,
    path,
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "content-length": 100 },
  });
  half.on("error", () => {});
  half.write('{"message":"a');
  await new Promise((resolve) => setImmediate(resolve));
  half.destroy();
  expect((await engine.store.workstreams.get(ws_id))?.last_seq).toBe(0);
});
