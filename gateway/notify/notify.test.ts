import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { runGateway } from "../main.ts";
import { authorizeCaller } from "./authorize.ts";
import { JWT_SECRET, startBench, until, type Bench } from "../testing/bench.ts";

interface TokenParts {
  secret?: string;
  audience?: string | null;
  issuer?: string;
  scopes?: string;
  issued_s?: number;
  expires_s?: number | null;
  algorithm?: string;
}

/** A token like the server's, or one that is wrong in some way. Times are relative to now, in seconds. */
async function token({
  secret = JWT_SECRET,
  audience = "turnstone-channel",
  issuer = "turnstone",
  scopes = "write",
  issued_s = 0,
  expires_s = 60,
  algorithm = "HS256",
}: TokenParts = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const jwt = new SignJWT({ scopes })
    .setProtectedHeader({ alg: algorithm })
    .setSubject("server")
    .setIssuer(issuer)
    .setIssuedAt(now + issued_s);
  if (audience !== null) jwt.setAudience(audience);
  if (expires_s !== null) jwt.setExpirationTime(now + expires_s);
  return jwt.sign(new TextEncoder().encode(secret));
}

interface Answered {
  status: number;
  body: Answer;
  /** Seconds. */
  retry_after: number;
}

async function notify(bench: Bench, body: unknown, bearer?: string): Promise<Answered> {
  const response = await fetch(`http://127.0.0.1:${bench.gateway.port}/v1/api/notify`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${bearer ?? (await token())}` },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const retry_after = Number(response.headers.get("retry-after") ?? 0);
  return { status: response.status, body: (await response.json()) as Answer, retry_after };
}

interface Answer {
  error?: string;
  results?: { status: string; channel_id: string; message_id?: string; message_ids?: string[] }[];
}

/** What is in use once nothing can be collected any more. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
  return process.memoryUsage().heapUsed;
}

// REQ-NOTIFY-001
test("a notification reaches its person by DM, with a title that cannot break out, and alerts nobody else", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const answer = await notify(bench, {
    target: { username: "ada" },
    title: "**Build**\n",
    message: "@everyone done",
    ws_id: "w",
    notification_id: "n1",
  });
  expect(answer.status).toBe(200);
  expect(answer.body.results).toMatchObject([
    { channel_type: "discord", channel_id: bench.practice.userId("Ada"), status: "sent" },
  ]);
  const [message] = bench.practice.dm("Ada");
  expect(message?.content).toBe("**\\*\\*Build\\*\\***\n@everyone done");
  const posted = await until(() => bench.server.posted.find((row) => row.shows === "notification:n1"));
  expect(posted).toMatchObject({ ws_id: "w", message_id: message?.id, part: 0 });
});

test("the same notification is delivered once and answered alike, also after a restart (REQ-NOTIFY-002)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const body = { target: { username: "ada" }, message: "once", ws_id: "w", notification_id: "n1" };
  const [first, second] = await Promise.all([notify(bench, body), notify(bench, body)]);
  expect(second).toEqual(first);
  await bench.restart();
  expect(await notify(bench, body)).toEqual(first);
  expect(bench.practice.dm("Ada")).toHaveLength(1);
});

test("two gateways asked for one notification, one after the other or at once, bring it once (REQ-NOTIFY-002)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const other = await runGateway(bench.settings, { log: silentLog, clock: systemClock });
  if (!other.ok) throw new Error(other.error);
  try {
    const body = (notification_id: string): object => ({
      target: { username: "ada" },
      message: `this is ${notification_id}`,
      ws_id: "w",
      notification_id,
    });
    const first = await notify(bench, body("n1"));
    expect(await notify({ ...bench, gateway: other.gateway }, body("n1"))).toEqual(first);
    const both = [bench, { ...bench, gateway: other.gateway }].map((one) => notify(one, body("n2")));
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    expect(bench.practice.dm("Ada").map(({ content }) => content)).toEqual(["this is n1", "this is n2"]);
  } finally {
    await other.gateway.stop();
  }
});

test("only the server's own tokens are let in (NTFY-08, NTFY-09, NTFY-10, REQ-NOTIFY-003)", async () => {
  await using bench = await startBench();
  const body = { target: { username: "nobody" }, message: "x" };
  const status = async (parts: TokenParts): Promise<number> => (await notify(bench, body, await token(parts))).status;
  expect(await status({})).toBe(404);
  expect(await status({ secret: "another secret, long enough for HS256" })).toBe(401);
  expect(await status({ audience: "turnstone-server" })).toBe(401);
  expect(await status({ audience: null })).toBe(401);
  expect(await status({ issuer: "somebody" })).toBe(401);
  expect(await status({ expires_s: null })).toBe(401);
  expect(await status({ algorithm: "HS512", secret: JWT_SECRET.repeat(2) })).toBe(401);
  expect(await status({ issued_s: -200, expires_s: -120 })).toBe(401);
  expect(await status({ issued_s: -200, expires_s: -20 })).toBe(404);
  expect(await status({ issued_s: 20 })).toBe(404);
  expect(await status({ issued_s: 120, expires_s: 300 })).toBe(401);
  expect(await status({ scopes: "read" })).toBe(403);
  const none = `${btoa(JSON.stringify({ alg: "none" }))}.${btoa(JSON.stringify({ sub: "x" }))}.`;
  expect((await notify(bench, body, none)).status).toBe(401);
});

test("without a secret nobody is let in, and a rotated secret is a matter of what is configured (NTFY-11)", async () => {
  const at = { ...systemClock };
  const header = `Bearer ${await token()}`;
  expect(await authorizeCaller(null, at, header)).toMatchObject({ ok: false, status: 401 });
  expect(await authorizeCaller(JWT_SECRET, at, header)).toMatchObject({ ok: true });
  const rotated = "the secret after a rotation, long enough for HS256";
  expect(await authorizeCaller(rotated, at, header)).toMatchObject({ ok: false, status: 401 });
  const fresh = `Bearer ${await token({ secret: rotated })}`;
  expect(await authorizeCaller(rotated, at, fresh)).toMatchObject({ ok: true });
  expect(await authorizeCaller(JWT_SECRET, at, undefined)).toMatchObject({ ok: false, status: 401 });
});

test("a token in the query string lets nobody in", async () => {
  await using bench = await startBench();
  const url = `http://127.0.0.1:${bench.gateway.port}/v1/api/notify?token=${await token()}&access_token=${await token()}`;
  const body = JSON.stringify({ target: { username: "ada" }, message: "x" });
  expect((await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })).status).toBe(
    401,
  );
});

test("a thousand requests a second are told to wait, cost no memory, and keep nobody out afterwards", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const bearer = await token();
  const body = { target: { username: "nobody" }, message: "x".repeat(2000) };
  let refused = 0;
  const flood = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      for (const answer of await Promise.all(Array.from({ length: 1000 }, () => notify(bench, body, bearer)))) {
        if (answer.status === 404) continue;
        expect(answer).toMatchObject({ status: 429, retry_after: 1 });
        refused += 1;
      }
    }
  };
  await flood(2);
  const before = heapBytes();
  await flood(4);
  expect(refused).toBeGreaterThan(5000);
  expect(heapBytes() - before).toBeLessThan(4 * 1024 * 1024);
  const served = async (): Promise<boolean> =>
    (await notify(bench, { target: { username: "ada" }, message: "still here" })).status === 200;
  while (!(await served())) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(bench.practice.dm("Ada").map(({ content }) => content)).toEqual(["still here"]);
}, 60_000);

test("a bad request is told what is wrong with it (NTFY-13, NTFY-14, NTFY-16, NTFY-17, NTFY-25)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const target = { username: "ada" };
  const bad: unknown[] = [
    "{",
    "[]",
    "null",
    { target: "username", message: "x" },
    { target: [], message: "x" },
    { target: null, message: "x" },
    { target: { username: {} }, message: "x" },
    { target: { channel_type: "discord" }, message: "x" },
    { target: { username: " " }, message: "x" },
    { target: { username: "ada", channel_type: "discord", channel_id: "1" }, message: "x" },
    { target, message: " \u200b " },
    { target, message: 5 },
    { target, message: "x".repeat(2001) },
    { message: "x" },
    { target: { channel_type: "discord", channel_id: 5 }, message: "x" },
  ];
  for (const body of bad) {
    const answer = await notify(bench, body);
    expect([body, answer.status]).toEqual([body, 400]);
    expect(answer.body.error?.length).toBeGreaterThan(5);
  }
  expect((await notify(bench, { target, message: "😀".repeat(2000) })).status).toBe(200);
  expect(
    (await notify(bench, `{"target":{"username":"ada"},"message":"x","__proto__":{"polluted":true}}`)).status,
  ).toBe(200);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  expect((await notify(bench, `"${"x".repeat(11 * 1024 * 1024)}"`)).status).toBe(413);
});

// REQ-NOTIFY-004
test("each target has its own outcome: closed DMs, no id, no adapter, a channel that is not served (NTFY-15, NTFY-18, NTFY-20, NTFY-21)", async () => {
  await using bench = await startBench({ discord: { channels: ["5"] } });
  const { practice } = bench;
  const status = async (target: unknown): Promise<string | undefined> => {
    const answer = await notify(bench, { target, message: "hello" });
    return answer.body.results?.[0]?.status ?? answer.body.error;
  };
  expect(await status({ channel_type: "discord", channel_id: "general" })).toBe("failed");
  expect(await status({ channel_type: "slack", channel_id: "1" })).toBe("no_adapter");
  expect(await status({ channel_type: "discord", channel_id: practice.channelId("general") })).toBe("failed");
  expect(await status({ channel_type: "discord", channel_id: practice.userId("Ben") })).toBe("sent");
  expect(await status({ username: "nobody" })).toBe("target not found or has no linked channels");
  practice.faults.closeDms("Cleo", true);
  expect(await status({ channel_type: "discord", channel_id: practice.userId("Cleo") })).toBe("failed");
});

test("every part of a long notification is remembered (NTFY-22)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const answer = await notify(bench, {
    target: { username: "ada" },
    title: "t",
    message: "word ".repeat(399) + "word.",
    ws_id: "w",
    notification_id: "n",
  });
  const ids = answer.body.results?.[0]?.message_ids ?? [];
  expect(ids).toHaveLength(2);
  expect(bench.server.posted.map((row) => row.message_id)).toEqual(ids);
});

test("the gateway registers, answers /health without a token, and says goodbye (REQ-NOTIFY-005)", async () => {
  await using bench = await startBench();
  await until(() => bench.server.services.size === 1);
  const health = await fetch(`http://127.0.0.1:${bench.gateway.port}/health`);
  expect(await health.json()).toMatchObject({ status: "ok" });
  await bench.gateway.stop();
  expect(bench.server.services.size).toBe(0);
  bench.gateway = { ...bench.gateway, stop: () => Promise.resolve() };
});
