import { SignJWT, UnsecuredJWT } from "jose";
import { expect, test } from "vitest";
import { newApiToken } from "../auth/api_token.ts";
import { mintJwt } from "../auth/jwt.ts";
import { bearer, createRig, type Rig, SECRET } from "./testing/rig.ts";

const ME = "/v1/api/workstreams";

async function statusWith(rig: Rig, headers: Record<string, string>): Promise<number> {
  return (await rig.app.inject({ url: ME, headers })).statusCode;
}

test.each<[string, (user_id: string, now_s: number) => Promise<string> | string]>([
  [
    "no signature",
    (sub, now) =>
      new UnsecuredJWT({ scopes: "read" })
        .setSubject(sub)
        .setIssuer("turnstone")
        .setAudience("turnstone-server")
        .setIssuedAt(now)
        .setExpirationTime(now + 60)
        .encode(),
  ],
  ["another algorithm", (sub, now) => sign(sub, now, { alg: "HS384" })],
  ["another issuer", (sub, now) => sign(sub, now, { issuer: "elsewhere" })],
  ["the console's audience", (sub, now) => sign(sub, now, { audience: "turnstone-console" })],
  ["no expiry", (sub, now) => sign(sub, now, { exp: null })],
  ["an expiry beyond the leeway", (sub, now) => sign(sub, now, { exp: now - 31 })],
  ["a birth in the future", (sub, now) => sign(sub, now + 120, { exp: now + 300 })],
  ["scopes as a list", (sub, now) => sign(sub, now, { scopes: ["read"] })],
  ["no person", (_sub, now) => sign("", now, {})],
  ["an unknown person", (_sub, now) => sign("f".repeat(32), now, {})],
  ["garbage", () => "a.b.c"],
  ["an API token's form", () => `ts_${"0".repeat(64)}`],
])("a token with %s is refused (AUTH-05, AUTH-07)", async (_what, make) => {
  const rig = await createRig();
  const { user_id } = await rig.person("anna");
  const token = await make(user_id, Math.floor(Date.now() / 1000));
  expect(await statusWith(rig, bearer(token))).toBe(401);
});

function sign(
  sub: string,
  now_s: number,
  change: { alg?: string; issuer?: string; audience?: string; exp?: number | null; scopes?: unknown },
): Promise<string> {
  const {
    alg = "HS256",
    issuer = "turnstone",
    audience = "turnstone-server",
    exp = now_s + 60,
    scopes = "read",
  } = change;
  const jwt = new SignJWT({ scopes })
    .setProtectedHeader({ alg })
    .setSubject(sub)
    .setIssuer(issuer)
    .setAudience(audience);
  jwt.setIssuedAt(now_s);
  if (exp !== null) jwt.setExpirationTime(exp);
  return jwt.sign(SECRET);
}

test("a clock that is half a minute behind is forgiven", async () => {
  const rig = await createRig();
  const { user_id } = await rig.person("anna");
  const now_s = Math.floor(Date.now() / 1000);
  expect(await statusWith(rig, bearer(await sign(user_id, now_s, { exp: now_s - 20 })))).toBe(200);
});

// REQ-SERVER-018
test("expiry, revocation and the end of an account count at once for a token that was good (AUTH-07)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const claims = { sub: anna.user_id, scopes: "read", audience: "turnstone-server", lifetime_s: 60 } as const;
  const session = bearer(await mintJwt(SECRET, rig.clock, claims));
  const login = await rig.app.inject({ method: "POST", url: "/v1/api/auth/login", payload: { token: anna.token } });
  const derived = bearer(login.json<{ jwt: string }>().jwt);
  for (const headers of [session, derived, bearer(anna.token)]) expect(await statusWith(rig, headers)).toBe(200);
  await rig.store.users.revokeToken(anna.token_id, new Date().toISOString());
  expect(await statusWith(rig, bearer(anna.token))).toBe(401);
  expect(await statusWith(rig, derived)).toBe(401);
  expect(await statusWith(rig, session)).toBe(200);
  rig.clock.advance(91_000);
  expect(await statusWith(rig, session)).toBe(401);
  const fresh = bearer(await mintJwt(SECRET, rig.clock, claims));
  expect(await statusWith(rig, fresh)).toBe(200);
  await rig.store.users.remove(anna.user_id);
  expect(await statusWith(rig, fresh)).toBe(401);
});

test("logging out ends the session wherever it is used, and no other (AUTH-07)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const logIn = async (): Promise<string> => {
    const login = await rig.app.inject({ method: "POST", url: "/v1/api/auth/login", payload: { token: anna.token } });
    return login.json<{ jwt: string }>().jwt;
  };
  const [left, kept, by_bearer] = [await logIn(), await logIn(), await logIn()];
  const logOut = { method: "POST", url: "/v1/api/auth/logout" } as const;
  await rig.app.inject({ ...logOut, headers: { cookie: `turnstone_auth=${left}` } });
  await rig.app.inject({ ...logOut, headers: bearer(by_bearer) });
  await rig.app.inject({ ...logOut, headers: bearer(anna.token) });
  await rig.app.inject({ ...logOut, headers: bearer("nonsense") });
  expect(await statusWith(rig, { cookie: `turnstone_auth=${left}` })).toBe(401);
  expect(await statusWith(rig, bearer(left))).toBe(401);
  expect(await statusWith(rig, bearer(by_bearer))).toBe(401);
  expect(await statusWith(rig, bearer(kept))).toBe(200);
  expect(await statusWith(rig, bearer(anna.token))).toBe(200);
});

test.each([
  ["2020-01-01T00:00:00.000Z", 401],
  ["soon", 401],
  ["2999-01-01T00:00:00.000Z", 200],
])("an API token that expires %s gives %i (AUTH-07)", async (expires, status) => {
  const rig = await createRig();
  const { user_id } = await rig.person("anna");
  const { token, row } = newApiToken({ user_id, name: "", scopes: "read", created: new Date().toISOString(), expires });
  await rig.store.users.createToken(row);
  expect(await statusWith(rig, bearer(token))).toBe(status);
});

test("a credential never gives more than its person has (REQ-SERVER-019)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna", "read");
  const claims = { sub: anna.user_id, scopes: "approve", audience: "turnstone-server", lifetime_s: 60 } as const;
  const headers = bearer(await mintJwt(SECRET, rig.clock, claims));
  expect((await rig.app.inject({ url: "/v1/api/admin/users", headers })).statusCode).toBe(403);
  expect(await statusWith(rig, headers)).toBe(200);
});

test("a bad bearer does not fall back to a good cookie (REQ-SERVER-020)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const cookie = `other=1; turnstone_auth=${anna.token}`;
  expect(await statusWith(rig, { cookie })).toBe(200);
  expect(await statusWith(rig, { cookie, ...bearer("bad") })).toBe(401);
  expect(await statusWith(rig, { cookie, authorization: "" })).toBe(401);
});

test("a cookie alone changes nothing from another page (REQ-SAFE-011)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const post = async (headers: Record<string, string>): Promise<number> => {
    const all = { cookie: `turnstone_auth=${anna.token}`, host: "localhost:8080", ...headers };
    return (await rig.app.inject({ method: "POST", url: "/v1/api/workstreams/new", headers: all, payload: {} }))
      .statusCode;
  };
  expect(await post({})).toBe(403);
  expect(await post({ origin: "https://evil.example" })).toBe(403);
  expect(await post({ origin: "http://localhost:8080", "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await post({ origin: "http://localhost:8080" })).toBe(200);
  expect(await post({ "sec-fetch-site": "same-origin" })).toBe(200);
  expect(await post({ ...bearer(anna.token), origin: "https://evil.example" })).toBe(200);
});

// REQ-GATEWAY-011
test("a gateway acts with the linked person's rights and no more; for strangers it is told so", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const ws_id = await rig.workstream(anna);
  const created = new Date().toISOString();
  await rig.store.channels.link({
    channel_type: "discord",
    channel_user_id: "1",
    user_id: anna.user_id,
    scopes: "read,write",
    created,
  });
  const service = bearer(await rig.serviceToken());
  const send = (headers: Record<string, string>) =>
    rig.app.inject({ method: "POST", url: `/v1/api/workstreams/${ws_id}/send`, headers, payload: { message: "hi" } });
  const approve = (headers: Record<string, string>) =>
    rig.app.inject({
      method: "POST",
      url: `/v1/api/workstreams/${ws_id}/approve`,
      headers,
      payload: { approved: true },
    });
  expect((await send({ ...service, "x-turnstone-actor": "discord:1" })).statusCode).toBe(200);
  expect((await rig.store.journal.read(ws_id, 0))[0]?.event).toMatchObject({
    source: "discord",
    sender: { user_id: anna.user_id, name: "anna", channel_type: "discord", channel_user_id: "1" },
  });
  expect((await approve({ ...service, "x-turnstone-actor": "discord:1" })).statusCode).toBe(403);
  const stranger = await send({ ...service, "x-turnstone-actor": "discord:2" });
  expect([stranger.statusCode, stranger.json()]).toMatchObject([403, { code: "unlinked" }]);
  expect((await send({ ...service, "x-turnstone-actor": "nonsense" })).statusCode).toBe(400);
  expect((await send(service)).statusCode).toBe(403);
  // For nobody it may say no, and only that.
  expect((await approve(service)).statusCode).toBe(404);
  expect((await send({ ...bearer(anna.token), "x-turnstone-actor": "discord:1" })).statusCode).toBe(403);
});

test("the approve role decides in others' workstreams, as far as the account goes (REQ-DISCORD-028)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const otto = await rig.person("otto");
  const ws_id = await rig.workstream(anna);
  const created = new Date().toISOString();
  await rig.store.channels.link({
    channel_type: "discord",
    channel_user_id: "2",
    user_id: otto.user_id,
    scopes: "approve",
    created,
  });
  rig.engine.approval = { ok: true, cycle_id: "c1" };
  const service = bearer(await rig.serviceToken());
  const approve = async (role: string): Promise<number> => {
    const headers = { ...service, "x-turnstone-actor": "discord:2", "x-turnstone-actor-role": role };
    const url = `/v1/api/workstreams/${ws_id}/approve`;
    return (await rig.app.inject({ method: "POST", url, headers, payload: { approved: true } })).statusCode;
  };
  expect(await approve("approve")).toBe(200);
  expect(await approve("use")).toBe(403);
  expect(await approve("nonsense")).toBe(403);
});
