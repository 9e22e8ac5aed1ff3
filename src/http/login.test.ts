import { expect, test } from "vitest";
import { bearer, createRig, type Rig } from "./testing/rig.ts";

const login = (rig: Rig, payload: object, headers: Record<string, string> = {}) =>
  rig.app.inject({ method: "POST", url: "/v1/api/auth/login", payload, headers });
const setup = (rig: Rig, payload: object, headers: Record<string, string> = {}) =>
  rig.app.inject({ method: "POST", url: "/v1/api/auth/setup", payload, headers });

test("a password opens a session by cookie and token, whatever the case of the name (AUTH-12, AUTH-14)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna", "read,write,approve", "correct horse");
  const answer = await login(rig, { username: "Anna", password: "correct horse" });
  expect(answer.json()).toMatchObject({
    status: "ok",
    role: "full",
    scopes: "read,write,approve",
    user_id: anna.user_id,
  });
  const cookie = String(answer.headers["set-cookie"]);
  expect(cookie).toMatch(/^turnstone_auth=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400$/);
  const { jwt } = answer.json<{ jwt: string }>();
  for (const headers of [bearer(jwt), { cookie: cookie.split(";")[0] ?? "" }]) {
    expect((await rig.app.inject({ url: "/v1/api/workstreams", headers })).statusCode).toBe(200);
  }
  const out = await rig.app.inject({ method: "POST", url: "/v1/api/auth/logout" });
  expect(String(out.headers["set-cookie"])).toContain("turnstone_auth=; ");
});

test("the cookie is Secure behind a trusted https proxy, and nobody else can say so (AUTH-12)", async () => {
  const trusting = await createRig({ trusted_proxies: ["127.0.0.1"] });
  const doubting = await createRig();
  for (const [rig, secure] of [
    [trusting, true],
    [doubting, false],
  ] as const) {
    const { token } = await rig.person("anna");
    const answer = await login(rig, { token }, { "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9" });
    expect(String(answer.headers["set-cookie"]).includes("; Secure")).toBe(secure);
  }
});

test("unknown names and wrong passwords are answered alike (AUTH-11, REQ-SERVER-022)", async () => {
  const rig = await createRig();
  await rig.person("anna", "read", "correct horse");
  const wrong = await login(rig, { username: "anna", password: "wrong" });
  const unknown = await login(rig, { username: "nobody", password: "wrong" });
  const odd = await login(rig, { username: "no\0body", password: "wrong\0" });
  expect(wrong.statusCode).toBe(401);
  expect([unknown.statusCode, unknown.body]).toEqual([wrong.statusCode, wrong.body]);
  expect([odd.statusCode, odd.body]).toEqual([wrong.statusCode, wrong.body]);
  const audit = await rig.store.audit.list({ limit: 10, action: "login.failed" });
  expect(audit).toHaveLength(3);
});

// REQ-SERVER-021
test("guessing is slowed down per name and per address, and a forged header does not help (AUTH-09)", async () => {
  const rig = await createRig();
  await rig.person("anna", "read", "correct horse");
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const headers = { "x-forwarded-for": `198.51.100.${attempt}` };
    expect((await login(rig, { username: "anna", password: "wrong" }, headers)).statusCode).toBe(401);
  }
  const limited = await login(rig, { username: "anna", password: "correct horse" });
  expect(limited.statusCode).toBe(429);
  expect(Number(limited.headers["retry-after"])).toBeGreaterThan(200);
  expect((await login(rig, { username: "otto", password: "x" })).statusCode).toBe(429);
  rig.clock.advance(300_000);
  expect((await login(rig, { username: "anna", password: "correct horse" })).statusCode).toBe(200);
});

test("a megabyte of password costs nothing (AUTH-10)", async () => {
  const rig = await createRig();
  expect((await login(rig, { username: "anna", password: "x".repeat(1_000_000) })).statusCode).toBe(400);
  expect((await login(rig, { username: "anna" })).statusCode).toBe(400);
});

test("guessing from everywhere at once fills a queue and no more, and says when to come back", async () => {
  const rig = await createRig();
  const attempts = Array.from({ length: 60 }, (_, index) =>
    rig.app.inject({
      method: "POST",
      url: "/v1/api/auth/login",
      remoteAddress: `10.0.0.${index}`,
      payload: { username: `name${index}`, password: "wrong-password" },
    }),
  );
  const answers = await Promise.all(attempts);
  const told = answers.filter(({ statusCode }) => statusCode === 429);
  expect(answers.filter(({ statusCode }) => statusCode === 401).length).toBe(answers.length - told.length);
  // Two are checked at a time and 32 wait.
  expect(told.length).toBeGreaterThanOrEqual(60 - 34 - 2);
  expect(told[0]?.json()).toMatchObject({ error: "Too many people log in just now." });
  expect(told.every(({ headers }) => Number(headers["retry-after"]) > 0)).toBe(true);
}, 30_000);

test("the first person is created once, whoever asks at the same time", async () => {
  const rig = await createRig();
  const status = () => rig.app.inject("/v1/api/auth/status").then((answer) => answer.json());
  expect(await status()).toEqual({ auth_enabled: true, has_users: false, setup_required: true });
  const answers = await Promise.all(
    ["Anna", "otto", "carl"].map((username) => setup(rig, { username, password: "long enough" })),
  );
  expect(answers.map((answer) => answer.statusCode).toSorted((left, right) => left - right)).toEqual([200, 409, 409]);
  expect(await rig.store.users.count()).toBe(1);
  expect(await status()).toMatchObject({ setup_required: false });
  const winner = answers.find((answer) => answer.statusCode === 200)?.json<{ jwt: string; scopes: string }>();
  expect(winner?.scopes).toBe("read,write,approve");
  const me = await rig.app.inject({ url: "/v1/api/admin/users", headers: bearer(winner?.jwt ?? "") });
  expect(me.json<{ users: { username: string }[] }>().users[0]?.username).toMatch(/^(anna|otto|carl)$/);
});

test("from elsewhere the first person also needs the setup code (REQ-SERVER-023)", async () => {
  const rig = await createRig({ host: "0.0.0.0" });
  const person = { username: "anna", password: "long enough" };
  const elsewhere = [{ host: "turnstone.example" }, { "x-forwarded-for": "203.0.113.9" }];
  for (const headers of elsewhere) expect((await setup(rig, person, headers)).statusCode).toBe(403);
  expect((await setup(rig, { ...person, setup_code: "wrong" }, elsewhere[0])).statusCode).toBe(403);
  expect((await setup(rig, { ...person, setup_code: "setup-code" }, elsewhere[0])).statusCode).toBe(200);
});
