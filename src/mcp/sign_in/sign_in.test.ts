import { afterEach, expect, test } from "vitest";
import { OAuthMcpServer } from "../../../test/support/mcp/oauth_server.ts";
import { remote, startServers, type StartedServers } from "../../../test/support/mcp/servers.ts";
import { temporaryStore, type TemporaryStore } from "../../../test/support/temporary_store.ts";
import type { CallResult } from "../../../test/support/tool_context.ts";
import type { FinishResult } from "../../contracts/mcp_sign_in.ts";
import type { ToolContext } from "../../contracts/tool.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createLog } from "../../lib/log.ts";
import { createSealer } from "../../lib/seal.ts";
import type { McpRequest } from "../../protocol/mcp_request.ts";
import { CredentialStore } from "./kept.ts";

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const CALLBACK = "http://127.0.0.1:8080/v1/api/mcp/sign_in_callback";

interface Bench {
  server: OAuthMcpServer;
  kept: TemporaryStore;
  servers: StartedServers;
  lines: string[];
  /** As after a restart of our server. */
  restart(secret?: string): Promise<void>;
  /** Begins, consents, and gives the browser's answer back. */
  signIn(user_id: string, account: string): Promise<FinishResult>;
  /** What the browser brings back. */
  consent(url: string): Promise<URLSearchParams>;
  whoami(user_id: string | null, fields?: Partial<ToolContext>): Promise<CallResult>;
}

async function start(options: { clock?: Clock; callback?: string | null } = {}): Promise<Bench> {
  const server = await new OAuthMcpServer().listen();
  const kept = await temporaryStore();
  closing.push(
    () => server.close(),
    () => kept.remove(),
  );
  const lines: string[] = [];
  const log = createLog({
    level: "debug",
    format: "json",
    now: () => systemClock.now(),
    redact: (text) => text,
    write: (line) => void lines.push(line),
  });
  const { clock = systemClock, callback = CALLBACK } = options;
  const open = async (secret: string): Promise<StartedServers> => {
    const sealer = createSealer(secret, "tests");
    const store = new CredentialStore({ store: kept.store.mcp_sign_ins, sealer, clock, log });
    const presentation = callback === null ? null : { redirect_url: callback, client_metadata_url: null };
    const started = startServers({ o: remote(server.url) }, { credentials: { store, presentation }, clock, log });
    await started.manager.settled();
    return started;
  };
  const bench: Bench = {
    server,
    kept,
    lines,
    servers: await open("first"),
    async restart(secret = "first") {
      await bench.servers.close();
      bench.servers = await open(secret);
    },
    async consent(url) {
      const response = await fetch(url, { redirect: "manual" });
      return new URL(response.headers.get("location") ?? "http://none").searchParams;
    },
    async signIn(user_id, account) {
      server.account = account;
      const begun = await bench.servers.manager.sign_ins.begin("o", user_id);
      if (!begun.ok) return begun;
      const back = await bench.consent(begun.url);
      const [state, code] = [back.get("state") ?? "", back.get("code") ?? ""];
      return bench.servers.manager.sign_ins.finish({ state, code, issuer: back.get("iss") });
    },
    whoami: (user_id, fields = {}) => bench.servers.call("whoami", {}, { user_id, askPeople: nobody, ...fields }),
  };
  closing.push(() => bench.servers.close());
  return bench;
}

const nobody: ToolContext["askPeople"] = async () => ({ action: "decline", content: {} });

function outputOf(result: CallResult): string {
  return result.prepared ? result.output : result.error;
}

test("people sign in one by one, and each call runs with the account of its owner", async () => {
  const bench = await start();
  const { servers } = bench;
  expect(servers.state("o")).toMatchObject({
    state: "sign_in_required",
    problem: "People sign in to it one by one; say /mcp connect o.",
    tools: 0,
  });
  expect(await bench.signIn("ana", "ana@example")).toEqual({ ok: true, server: "o", user_id: "ana" });
  expect(await bench.signIn("ben", "ben@example")).toMatchObject({ ok: true });
  expect(servers.state("o")).toMatchObject({ state: "ready", tools: 4 });
  expect(outputOf(await bench.whoami("ana"))).toBe("ana@example");
  expect(outputOf(await bench.whoami("ben"))).toBe("ben@example");
  for (const stranger of ["cleo", null]) {
    expect(outputOf(await bench.whoami(stranger))).toContain("the owner of this conversation has not signed in to it");
  }
});

test("a sign-in survives a restart, and is nothing with another secret", async () => {
  const bench = await start();
  await bench.signIn("ana", "ana");
  await bench.restart();
  expect(outputOf(await bench.whoami("ana"))).toBe("ana");
  await bench.restart("second");
  expect(bench.servers.state("o")).toMatchObject({ state: "sign_in_required" });
  expect(bench.lines.join("\n")).toContain("mcp.credential_unreadable");
});

test("a call that needs a sign-in asks its owner, and goes on after it", async () => {
  const bench = await start();
  await bench.signIn("ben", "ben");
  const asked: McpRequest[] = [];
  const askPeople: ToolContext["askPeople"] = async (_server, request) => {
    asked.push(request);
    await bench.signIn("ana", "ana");
    return { action: "accept", content: {} };
  };
  expect(outputOf(await bench.whoami("ana", { askPeople }))).toBe("ana");
  expect(asked).toEqual([{ kind: "sign_in" }]);
});

test("a token that has run out is renewed once, however many calls find out", async () => {
  const bench = await start();
  await bench.signIn("ana", "ana");
  bench.server.expireAccess();
  const results = await Promise.all(Array.from({ length: 8 }, () => bench.whoami("ana")));
  expect(results.map(outputOf)).toEqual(Array.from({ length: 8 }, () => "ana"));
  expect(bench.server.token_requests.filter(({ grant_type }) => grant_type === "refresh_token")).toHaveLength(1);
  await bench.restart();
  bench.server.expireAccess();
  expect(outputOf(await bench.whoami("ana"))).toBe("ana");
});

test("what was taken back signs out; an authorisation server that is down does not", async () => {
  const bench = await start();
  await bench.signIn("ana", "ana");
  bench.server.expireAccess();
  bench.server.token_status = 503;
  expect(outputOf(await bench.whoami("ana"))).toContain("cannot be renewed at the moment");
  bench.server.token_status = null;
  expect(outputOf(await bench.whoami("ana"))).toBe("ana");
  bench.server.revokeAll();
  expect(outputOf(await bench.whoami("ana"))).toContain("has not signed in to it");
  expect(await bench.kept.store.mcp_sign_ins.credential("o", "ana")).toBeNull();
  await bench.signIn("ana", "ana again");
  expect(outputOf(await bench.whoami("ana"))).toBe("ana again");
});

test("a server that wants more rights has its owner asked for them", async () => {
  const bench = await start();
  await bench.signIn("ana", "ana");
  bench.server.needs_scope = "admin";
  const askPeople: ToolContext["askPeople"] = async () => {
    await bench.signIn("ana", "ana");
    return { action: "accept", content: {} };
  };
  expect(outputOf(await bench.whoami("ana", { askPeople }))).toBe("ana");
  expect([...bench.server.access.values()].map(({ scope }) => scope)).toEqual(["basic", "basic admin"]);
});

test("signing out forgets", async () => {
  const bench = await start();
  await bench.signIn("ana", "ana");
  await bench.signIn("ben", "ben");
  const { sign_ins } = bench.servers.manager;
  expect(await sign_ins.signOut("o", "ana")).toBe(true);
  expect(await sign_ins.signOut("o", "ana")).toBe(false);
  expect(outputOf(await bench.whoami("ana"))).toContain("has not signed in to it");
  expect(outputOf(await bench.whoami("ben"))).toBe("ben");
});

test("no token is in a log, in the database, or in what the server says back", async () => {
  const bench = await start();
  await bench.signIn("ana", "ana");
  expect(outputOf(await bench.servers.call("leak", {}, { user_id: "ana" }))).toBe("your token is [redacted]");
  bench.server.expireAccess();
  await bench.whoami("ana");
  const payload = await bench.kept.store.mcp_sign_ins.credential("o", "ana");
  const readable = Buffer.from(payload ?? "", "base64url").toString("latin1");
  const kept = [...bench.lines, payload ?? "", readable].join("\n");
  expect(kept).not.toMatch(/(?:access|refresh)-[0-9a-f]{8}/);
});

test("a state is good once, for ten minutes, and only as it was given", async () => {
  let now = systemClock.now();
  const bench = await start({ clock: { ...systemClock, now: () => now } });
  const { sign_ins } = bench.servers.manager;
  const over = { ok: false, error: "This sign-in has run out or was finished before; begin it again." };
  const begin = async (): Promise<{ state: string; code: string; issuer: string | null }> => {
    const begun = await sign_ins.begin("o", "ana");
    if (!begun.ok) throw new Error(begun.error);
    const back = await bench.consent(begun.url);
    return { state: back.get("state") ?? "", code: back.get("code") ?? "", issuer: back.get("iss") };
  };
  const first = await begin();
  expect(await sign_ins.begun(first.state)).toEqual({ server: "o", user_id: "ana" });
  expect(await sign_ins.finish({ ...first, state: `${first.state}x` })).toEqual(over);
  expect(await sign_ins.finish(first)).toMatchObject({ ok: true });
  expect(await sign_ins.finish(first)).toEqual(over);
  const late = await begin();
  now += 600_001;
  expect(await sign_ins.begun(late.state)).toBeNull();
  expect(await sign_ins.finish(late)).toEqual(over);
  const mixed_up = await begin();
  const wrong = await sign_ins.finish({ ...mixed_up, issuer: "https://evil.example" });
  expect(wrong).toMatchObject({ ok: false, error: expect.stringContaining("Somebody else answered than was asked") });
  const unnamed = await begin();
  expect(await sign_ins.finish({ ...unnamed, issuer: null })).toMatchObject({ ok: false });
  expect(await sign_ins.finish({ ...(await begin()), code: "stolen" })).toMatchObject({ ok: false });
});

test("one person begins twenty sign-ins at a time, and another is not kept from it", async () => {
  const bench = await start();
  const { sign_ins } = bench.servers.manager;
  const begun = await Promise.all(Array.from({ length: 21 }, () => sign_ins.begin("o", "ana")));
  expect(begun.filter(({ ok }) => ok)).toHaveLength(20);
  expect(await sign_ins.begin("o", "ben")).toMatchObject({ ok: true });
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ["a script", { authorization_endpoint: "javascript:alert(1)" }, {}],
  ["plain http elsewhere", { authorization_endpoint: "http://example.org/authorize" }, {}],
  ["an authorisation server in plain http", {}, { authorization_servers: ["http://10.0.0.1"] }],
  ["a file", {}, { authorization_servers: ["file:///etc/passwd"] }],
  ["somebody else's resource", {}, { resource: "https://elsewhere.example/mcp" }],
])("nobody is sent to %s", async (_what, metadata, resource_metadata) => {
  const bench = await start();
  Object.assign(bench.server, { metadata, resource_metadata });
  const begun = await bench.servers.manager.sign_ins.begin("o", "ana");
  expect(begun).toMatchObject({ ok: false, error: expect.stringMatching(/^(Signing in to|The MCP server o names)/) });
});

test("without an address for browsers nobody is sent away", async () => {
  const bench = await start({ callback: null });
  expect(await bench.servers.manager.sign_ins.begin("o", "ana")).toEqual({
    ok: false,
    error: expect.stringContaining("set [server] public_url"),
  });
  expect(await bench.servers.manager.sign_ins.begin("other", "ana")).toMatchObject({ ok: false });
});
