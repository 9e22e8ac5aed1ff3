import { expect, test } from "vitest";
import type { TokenRow } from "../contracts/store.ts";
import type { ChannelRoute, PostedMessage } from "../protocol/channel.ts";
import { AT, temporaryStore, user, userTurn, workstream } from "../../test/support/store_rig.ts";

const TOKEN: TokenRow = {
  token_id: "t1",
  token_hash: "hash",
  token_prefix: "ts_12345",
  user_id: "anna",
  name: "laptop",
  scopes: "read",
  created: AT,
  expires: null,
  revoked: null,
};
const ROUTE: ChannelRoute = {
  channel_type: "discord",
  channel_id: "100",
  ws_id: "a",
  kind: "thread",
  guild_id: "1",
  parent_channel_id: "2",
  last_inbound_id: null,
  cursor_seq: 0,
  created: AT,
};

test("a user name is one person's, whatever its case", async () => {
  const store = await temporaryStore();
  expect(await store.users.create(user("u1", { username: "Änna" }))).toBe(true);
  expect(await store.users.create(user("u2", { username: "äNNA" }))).toBe(false);
  expect(await store.users.byUsername("ÄNNA")).toMatchObject({ user_id: "u1", username: "änna" });
  expect(await store.users.byUsername("constructor")).toBeNull();
  expect(await store.users.update("u1", { password_hash: "h" })).toBe(true);
  expect(await store.users.update("u9", { password_hash: "h" })).toBe(false);
  expect(await store.users.get("u1")).toMatchObject({ password_hash: "h", scopes: "read,write" });
  expect(await store.users.count()).toBe(1);
});

test("there is one first user, however many ask at once", async () => {
  const store = await temporaryStore();
  const made = await Promise.all(["a", "b", "c"].map((name) => store.users.createFirst(user(name))));
  expect(made).toEqual([true, false, false]);
  expect((await store.users.list()).map((row) => row.username)).toEqual(["a"]);
});

test("a removed person's tokens, links, grants and memories go along", async () => {
  const store = await temporaryStore();
  for (const name of ["anna", "bert"]) await store.users.create(user(name));
  await store.users.createToken(TOKEN);
  await store.channels.link({
    channel_type: "discord",
    channel_user_id: "7",
    user_id: "anna",
    scopes: "read",
    created: AT,
  });
  await store.memories.save({ scope: "user", owner: "anna", key: "k", value: "v" }, AT);
  expect(await store.users.tokenByHash("hash")).toEqual(TOKEN);
  expect(await store.users.remove("anna")).toBe(true);
  expect(await store.users.remove("anna")).toBe(false);
  expect(await store.users.tokenByHash("hash")).toBeNull();
  expect(await store.users.listTokens()).toEqual([]);
  expect(await store.channels.linkOf("discord", "7")).toBeNull();
  expect(await store.memories.count({ user_id: "anna", workspace: "/w" })).toBe(0);
  expect(await store.users.count()).toBe(1);
});

test("a token is revoked once and needs a person", async () => {
  const store = await temporaryStore();
  await expect(store.users.createToken(TOKEN)).rejects.toThrow("FOREIGN KEY");
  await store.users.create(user("anna"));
  await store.users.createToken(TOKEN);
  expect(await store.users.revokeToken("t1", AT)).toBe(true);
  expect(await store.users.revokeToken("t1", AT)).toBe(false);
  expect((await store.users.listTokens("anna"))[0]?.revoked).toBe(AT);
  expect(await store.users.listTokens("bert")).toEqual([]);
});

test("a platform user is linked to one account", async () => {
  const store = await temporaryStore();
  for (const name of ["anna", "bert"]) await store.users.create(user(name));
  const link = (channel_user_id: string, user_id: string, created = AT) =>
    store.channels.link({ channel_type: "discord", channel_user_id, user_id, scopes: "read", created });
  expect(await link("7", "anna")).toBe(true);
  expect(await link("7", "bert")).toBe(false);
  expect(await link("8", "anna", "2026-05-01T00:00:00.000Z")).toBe(true);
  expect(await store.channels.linkOf("discord", "7")).toEqual({
    channel_type: "discord",
    channel_user_id: "7",
    user_id: "anna",
    username: "anna",
    display_name: "anna",
    scopes: "read",
    created: AT,
  });
  expect((await store.channels.linksOfUser("anna")).map((row) => row.channel_user_id)).toEqual(["8", "7"]);
  expect(await store.channels.unlink("discord", "7")).toBe(true);
  expect(await store.channels.unlink("discord", "7")).toBe(false);
  expect(await store.channels.listLinks()).toHaveLength(1);
});

test("a channel shows one workstream, and its cursors only move forward (REQ-GATEWAY-008)", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  await store.workstreams.create(workstream("b"));
  expect(await store.channels.createRoute(ROUTE)).toEqual(ROUTE);
  expect(await store.channels.createRoute({ ...ROUTE, ws_id: "b" })).toEqual(ROUTE);
  const move = (to: Parameters<typeof store.channels.moveCursor>[2]) => store.channels.moveCursor("discord", "100", to);
  expect(await move({ cursor_seq: 5, last_inbound_id: "99" })).toMatchObject({ cursor_seq: 5, last_inbound_id: "99" });
  expect(await move({ cursor_seq: 3, last_inbound_id: "100" })).toMatchObject({
    cursor_seq: 5,
    last_inbound_id: "100",
  });
  expect(await move({ last_inbound_id: "99" })).toMatchObject({ cursor_seq: 5, last_inbound_id: "100" });
  expect(await move({})).toMatchObject({ cursor_seq: 5, last_inbound_id: "100" });
  expect(await store.channels.moveCursor("discord", "none", { cursor_seq: 1 })).toBeNull();
  expect(await store.channels.route("discord", "100")).toMatchObject({ cursor_seq: 5 });
  expect(await store.channels.routesOfWorkstream("a")).toHaveLength(1);
  expect(await store.channels.listRoutes("discord")).toHaveLength(1);
  expect(await store.channels.removeRoute("discord", "100")).toBe(true);
  expect(await store.channels.removeRoute("discord", "100")).toBe(false);
});

test("routes are behind while entries are not shown", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  await store.channels.createRoute(ROUTE);
  expect(await store.channels.routesBehind("discord")).toEqual([]);
  await store.journal.commit({ ws_id: "a", at: AT, entries: [userTurn("a", 1, "x")] });
  expect((await store.channels.routesBehind("discord")).map((route) => route.channel_id)).toEqual(["100"]);
  await store.channels.moveCursor("discord", "100", { cursor_seq: 1 });
  expect(await store.channels.routesBehind("discord")).toEqual([]);
});

test("a posted message is found by id and by what it shows", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  const posted = (message_id: string, part: number): PostedMessage => ({
    channel_type: "discord",
    channel_id: "100",
    message_id,
    ws_id: "a",
    shows: "card:c1",
    part,
    created: AT,
  });
  for (const message of [posted("1000", 1), posted("999", 0), posted("998", 0)]) {
    await store.channels.savePosted(message);
  }
  expect(await store.channels.postedShowing("discord", "a", "card:c1")).toEqual([posted("998", 0), posted("1000", 1)]);
  expect(await store.channels.posted("discord", "1000")).toEqual(posted("1000", 1));
  expect(await store.channels.posted("discord", "999")).toBeNull();
  expect(await store.channels.lastPosted("discord", "100")).toEqual(posted("1000", 1));
  expect(await store.channels.lastPosted("discord", "101")).toBeNull();
});

test("a service is healthy while its heartbeat is young", async () => {
  const store = await temporaryStore();
  const beat = (service_id: string, last_heartbeat: string) =>
    store.services.heartbeat({
      service_type: "gateway",
      service_id,
      url: "http://x",
      metadata: { shard: 1 },
      last_heartbeat,
    });
  await beat("g1", "2026-01-01T00:00:00.000Z");
  await beat("g2", "2026-01-01T00:01:00.000Z");
  await beat("g1", "2026-01-01T00:02:00.000Z");
  const healthy = await store.services.healthy("gateway", "2026-01-01T00:01:00.000Z");
  expect(healthy.map((row) => row.service_id)).toEqual(["g1", "g2"]);
  expect(healthy[0]).toMatchObject({ created: "2026-01-01T00:00:00.000Z", metadata: { shard: 1 } });
  expect(await store.services.healthy("gateway", "2026-01-01T00:03:00.000Z")).toEqual([]);
  expect(await store.services.remove("gateway", "g1")).toBe(true);
  expect(await store.services.remove("gateway", "g1")).toBe(false);
});

test("the audit is listed newest first", async () => {
  const store = await temporaryStore();
  const row = (audit_id: string, at: string, action = "login") => ({
    audit_id,
    at,
    user_id: "anna",
    action,
    target: "x",
    details: { n: 1 },
  });
  await store.audit.add(row("1", "2026-01-01T00:00:00.000Z"));
  await store.audit.add(row("2", "2026-01-02T00:00:00.000Z", "approve"));
  await store.audit.add(row("3", "2026-01-02T00:00:00.000Z"));
  expect((await store.audit.list({ limit: 9 })).map((kept) => kept.audit_id)).toEqual(["3", "2", "1"]);
  expect(await store.audit.list({ limit: 9, before: "2026-01-02T00:00:00.000Z" })).toEqual([
    row("1", "2026-01-01T00:00:00.000Z"),
  ]);
  expect(await store.audit.list({ limit: 9, action: "approve", user_id: "anna" })).toHaveLength(1);
});

test("places are to be told of a closing until they are, or the conversation is opened again or the place is gone", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a", { name: "A talk" }));
  await store.channels.createRoute(ROUTE);
  const close = (closed: string | null) => store.workstreams.update("a", { closed });
  const waiting = async () => (await store.channels.closings("discord")).map((row) => [row.channel_id, row.closed]);
  const [one, two] = ["2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"];
  await close(one);
  expect(await store.channels.closings("discord")).toEqual([
    {
      channel_type: "discord",
      channel_id: "100",
      ws_id: "a",
      name: "A talk",
      closed: one,
      removed: false,
      leftovers: [],
    },
  ]);
  expect(await store.channels.closings("other")).toEqual([]);
  await close(null);
  expect(await waiting()).toEqual([]);
  await close(two);
  expect(await store.channels.closingTold("discord", "100", one)).toBe(false);
  expect(await waiting()).toEqual([["100", two]]);
  expect(await store.channels.closingTold("discord", "100", two)).toBe(true);
  await store.workstreams.remove("a");
  expect(await waiting()).toEqual([]);
});

test("a place whose conversation was removed is to be told, with the questions that it still shows", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  await store.channels.createRoute({ ...ROUTE, cursor_seq: 3 });
  const posted = { channel_type: "discord", channel_id: "100", ws_id: "a", part: 0, created: AT };
  for (const [message_id, shows] of [
    ["1", "live:1"],
    ["2", "live:4"],
    ["3", "answer:4.1"],
  ] as const) {
    await store.channels.savePosted({ ...posted, message_id, shows });
  }
  await store.workstreams.remove("a");
  expect(await store.channels.closings("discord")).toMatchObject([
    { channel_id: "100", ws_id: "a", removed: true, leftovers: ["2"] },
  ]);
  await store.channels.removeRoute("discord", "100");
  expect(await store.channels.closings("discord")).toEqual([]);
});

test("marks only move forward, and those that nobody moved for a week are forgotten", async () => {
  const store = await temporaryStore();
  const move = (heard_id: string, at: string, channel_id = "1") =>
    store.channels.moveMarks("discord", [{ channel_id, heard_id }], at);
  await move("99", "2026-01-01T00:00:00.000Z");
  await move("100", "2026-01-02T00:00:00.000Z");
  await move("98", "2026-01-03T00:00:00.000Z");
  expect(await store.channels.marks("discord")).toEqual([{ channel_id: "1", heard_id: "100" }]);
  expect(await store.channels.marks("other")).toEqual([]);
  await move("7", "2026-01-20T00:00:00.000Z", "2");
  expect(await store.channels.marks("discord")).toEqual([{ channel_id: "2", heard_id: "7" }]);
});
