import { expect, test } from "vitest";
import { newId } from "../../lib/ids.ts";
import { bearer, createRig, type Rig } from "../testing/rig.ts";

type Method = "GET" | "POST" | "DELETE";

function caller(rig: Rig, headers: Record<string, string>) {
  return async (
    method: Method,
    url: string,
    payload?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const answer = await rig.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
  };
}

async function setUp() {
  const rig = await createRig();
  const anna = await rig.person("anna");
  return { rig, anna, call: caller(rig, bearer(anna.token)), gateway: caller(rig, bearer(await rig.serviceToken())) };
}

test("a workstream is made once for an id, and its first message is said once", async () => {
  const { rig, call } = await setUp();
  const ws_id = newId();
  const first = await call("POST", "/v1/api/workstreams/new", { ws_id, name: "Work", initial_message: "hello" });
  expect(first).toEqual({ status: 200, body: { ws_id, name: "Work", resumed: false, message_count: 0 } });
  expect((await rig.store.journal.read(ws_id, 0))[0]?.event).toMatchObject({ client_send_ids: [`new:${ws_id}`] });
  expect((await call("POST", "/v1/api/workstreams/new", { ws_id })).status).toBe(200);
  const otto = caller(rig, bearer((await rig.person("otto")).token));
  expect((await otto("POST", "/v1/api/workstreams/new", { ws_id })).status).toBe(409);
  expect((await call("POST", "/v1/api/workstreams/new", { ws_id: "short" })).body).toMatchObject({ field: "ws_id" });
  expect(await call("POST", "/v1/api/workstreams/new", { model: "nonesuch" })).toMatchObject({
    status: 400,
    body: { field: "model" },
  });
  expect((await call("GET", "/v1/api/workstreams")).body).toEqual({
    workstreams: [
      { ws_id, name: "Work", state: "idle", kind: "main", parent_ws_id: null, user_id: expect.any(String) },
    ],
  });
});

test("what runs unasked needs the approve scope (AUTH-03)", async () => {
  const { rig } = await setUp();
  const call = caller(rig, bearer((await rig.person("otto", "read,write")).token));
  expect((await call("POST", "/v1/api/workstreams/new", { auto_approve: true })).status).toBe(403);
  expect((await call("POST", "/v1/api/workstreams/new", { auto_approve_tools: ["bash"] })).status).toBe(403);
  expect((await call("POST", "/v1/api/workstreams/new", { auto_approve: false, auto_approve_tools: [] })).status).toBe(
    200,
  );
});

test("a gateway makes workstreams for the person whom it names, with that person's rights", async () => {
  const { rig, anna, gateway } = await setUp();
  const reader = await rig.person("otto", "read");
  expect((await gateway("POST", "/v1/api/workstreams/new", {})).status).toBe(403);
  expect((await gateway("POST", "/v1/api/workstreams/new", { user_id: "nobody" })).status).toBe(400);
  expect((await gateway("POST", "/v1/api/workstreams/new", { user_id: reader.user_id })).status).toBe(403);
  const made = await gateway("POST", "/v1/api/workstreams/new", { user_id: anna.user_id });
  expect((await rig.store.workstreams.get(String(made.body["ws_id"])))?.user_id).toBe(anna.user_id);
});

test("decisions that come too late or to nothing are told who decided (APPR-12, REQ-SERVER-015)", async () => {
  const { rig, anna, call } = await setUp();
  const ws_id = await rig.workstream(anna);
  const approve = () => call("POST", `/v1/api/workstreams/${ws_id}/approve`, { approved: true });
  expect(await approve()).toMatchObject({ status: 409, body: { error: expect.any(String) } });
  const decided_by = { user_id: "u2", name: "Otto" };
  const decided_at = "2026-12-01T12:03:00.000Z";
  rig.engine.approval = {
    ok: false,
    reason: "settled",
    error: "Already approved by Otto.",
    cycle_id: "c1",
    decided_at,
    approved: true,
    decided_by,
  };
  expect(await approve()).toEqual({
    status: 409,
    body: {
      error: "Already approved by Otto.",
      code: "conflict",
      cycle_id: "c1",
      approved: true,
      decided_by,
      decided_at,
    },
  });
  rig.engine.approval = { ok: true, cycle_id: "c2" };
  expect(await approve()).toEqual({ status: 200, body: { status: "ok", cycle_id: "c2" } });
  const audit = await call("GET", "/v1/api/admin/audit?action=approval.decided");
  expect(audit.body).toMatchObject({
    entries: [{ user_id: anna.user_id, target: "c2", details: { ws_id, approved: true } }],
  });
});

test("an invited person sees and speaks, and nothing else (AUTH-04)", async () => {
  const { rig, anna, call } = await setUp();
  const ws_id = await rig.workstream(anna);
  const otto = caller(rig, bearer((await rig.person("otto")).token));
  const at = (what: string): string => `/v1/api/workstreams/${ws_id}/${what}`;
  const listed = async (): Promise<unknown> => (await otto("GET", "/v1/api/workstreams")).body["workstreams"];
  expect((await otto("GET", at("history"))).status).toBe(404);
  expect(await listed()).toEqual([]);
  expect((await call("POST", at("invite"), { username: "Otto" })).body).toMatchObject({ status: "ok", name: "otto" });
  expect((await call("POST", at("invite"), { username: "nobody" })).status).toBe(404);
  expect(await listed()).toMatchObject([{ ws_id, user_id: anna.user_id }]);
  expect((await otto("POST", at("send"), { message: "hi" })).status).toBe(200);
  expect((await otto("GET", at("history"))).body).toMatchObject({
    cursor: 1,
    messages: [{ role: "user", content: "hi", sender: { name: "otto" } }],
  });
  for (const [what, payload] of [
    ["approve", { approved: true }],
    ["close", {}],
    ["delete", {}],
    ["invite", { username: "otto" }],
  ] as const) {
    expect([what, (await otto("POST", at(what), payload)).status]).toEqual([what, 403]);
  }
  expect((await otto("POST", "/v1/api/command", { command: "/status", ws_id })).status).toBe(200);
  expect((await otto("POST", "/v1/api/command", { command: "/clear", ws_id })).status).toBe(403);
});

// REQ-SERVER-014
test("a history holds the newest messages, over many entries and without what was taken back", async () => {
  const { rig, anna, call } = await setUp();
  const ws_id = await rig.workstream(anna);
  const say = (content: string) => rig.engine.append(ws_id, { type: "user_turn", content, client_send_ids: [] });
  await say("first");
  for (let number = 0; number < 700; number += 1) await rig.engine.append(ws_id, { type: "info", message: "noise" });
  await say("taken back");
  await rig.engine.append(ws_id, { type: "rewound", kept_after_seq: 701, turns: 1 });
  await rig.engine.append(ws_id, { type: "tool_result", call_id: "c", name: "bash", output: "out", is_error: false });
  await say("last");
  const history = async (query: string): Promise<unknown> => {
    const { body } = await call("GET", `/v1/api/workstreams/${ws_id}/history${query}`);
    return {
      cursor: body["cursor"],
      contents: (body["messages"] as { content: string }[]).map((message) => message.content),
    };
  };
  expect(await history("")).toEqual({ cursor: 705, contents: ["first", "out", "last"] });
  expect(await history("?limit=2")).toEqual({ cursor: 705, contents: ["out", "last"] });
}, 60_000);

// REQ-SERVER-016
test("an upload is named by what it is, comes back as it was, and belongs to one workstream", async () => {
  const { rig, anna, call } = await setUp();
  const ws_id = await rig.workstream(anna);
  const url = `${await rig.listen()}/v1/api/workstreams/${ws_id}/attachments`;
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
  const upload = async (bytes: Uint8Array<ArrayBuffer>, name: string): Promise<Response> => {
    const body = new FormData();
    body.set("file", new Blob([bytes], { type: "text/html" }), name);
    return fetch(url, { method: "POST", headers: bearer(anna.token), body });
  };
  const saved = (await (await upload(png, "../../päge\u0007.html")).json()) as Record<string, string>;
  expect(saved).toMatchObject({ filename: "päge.html", media_type: "image/png", size: 11 });
  const back = await fetch(`${url}/${saved["attachment_id"]}`, { headers: bearer(anna.token) });
  expect(new Uint8Array(await back.arrayBuffer())).toEqual(png);
  expect(back.headers.get("content-type")).toBe("image/png");
  const page = (await (await upload(new TextEncoder().encode("<script>"), "a.html")).json()) as Record<string, string>;
  const shown = await fetch(`${url}/${page["attachment_id"]}`, { headers: bearer(anna.token) });
  expect(shown.headers.get("content-type")).toBe("application/octet-stream");
  expect(shown.headers.get("content-disposition")).toMatch(/^attachment/);
  for (const { headers } of [back, shown]) {
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
  }
  expect((await call("GET", `/v1/api/workstreams/${ws_id}/attachments`)).body).toMatchObject({
    attachments: [saved, page],
  });
  const other = await rig.workstream(anna);
  const stolen = { message: "look", attachment_ids: [saved["attachment_id"]] };
  expect((await call("POST", `/v1/api/workstreams/${other}/send`, stolen)).body).toMatchObject({
    field: "attachment_ids",
  });
  expect((await upload(new Uint8Array(26 * 1024 * 1024), "big")).status).toBe(413);
  expect(
    (
      await fetch(url, {
        method: "POST",
        headers: { ...bearer(anna.token), "content-type": "multipart/form-data" },
        body: "x",
      })
    ).status,
  ).toBe(400);
  expect((await call("DELETE", `/v1/api/workstreams/${ws_id}/attachments/${saved["attachment_id"]}`)).status).toBe(200);
  expect((await call("GET", `/v1/api/workstreams/${ws_id}/attachments/${saved["attachment_id"]}`)).status).toBe(404);
});

test("memories are a person's own; those for everybody need the approve scope", async () => {
  const { rig, call } = await setUp();
  const otto = caller(rig, bearer((await rig.person("otto", "read,write")).token));
  const saved = await call("POST", "/v1/api/memories", { key: "colour", value: "green" });
  const memory_id = (saved.body["memory"] as { memory_id: string }).memory_id;
  expect((await call("POST", "/v1/api/memories", { key: "colour", value: "blue" })).body).toMatchObject({
    previous: "green",
  });
  expect((await otto("GET", "/v1/api/memories")).body).toEqual({ memories: [], total: 0 });
  expect((await otto("DELETE", `/v1/api/memories/${memory_id}`)).status).toBe(404);
  expect((await otto("POST", "/v1/api/memories", { key: "k", value: "v", scope: "global" })).status).toBe(403);
  const shared = await call("POST", "/v1/api/memories", { key: "k", value: "v", scope: "global" });
  const shared_id = (shared.body["memory"] as { memory_id: string }).memory_id;
  expect((await otto("DELETE", `/v1/api/memories/${shared_id}`)).status).toBe(403);
  expect((await call("GET", "/v1/api/memories?query=colour")).body).toMatchObject({ memories: [{ value: "blue" }] });
  expect((await call("DELETE", `/v1/api/memories/${memory_id}`)).status).toBe(200);
});

test("people, tokens and links are administrated, and each act is on record (REQ-SERVER-017)", async () => {
  const { rig, call } = await setUp();
  const made = await call("POST", "/v1/api/admin/users", {
    username: "Otto",
    password: "long enough",
    scopes: "write",
  });
  expect(made.body).toMatchObject({ username: "otto", scopes: "read,write", has_password: true });
  expect(made.body).not.toHaveProperty("password_hash");
  expect((await call("POST", "/v1/api/admin/users", { username: "OTTO" })).status).toBe(409);
  expect((await call("POST", "/v1/api/admin/users", { username: "x", scopes: "service" })).body).toMatchObject({
    field: "scopes",
  });
  const user_id = String(made.body["user_id"]);
  const token = await call("POST", "/v1/api/admin/tokens", { user_id, expires_days: 1 });
  expect(token.body).toMatchObject({ token: expect.stringMatching(/^ts_[0-9a-f]{64}$/), scopes: "read,write" });
  const otto = caller(rig, bearer(String(token.body["token"])));
  expect((await otto("GET", "/v1/api/workstreams")).status).toBe(200);
  expect(JSON.stringify((await call("GET", "/v1/api/admin/tokens")).body)).not.toMatch(/token_hash|ts_[0-9a-f]{64}/);
  expect((await call("DELETE", `/v1/api/admin/tokens/${String(token.body["token_id"])}`)).status).toBe(200);
  expect((await otto("GET", "/v1/api/workstreams")).status).toBe(401);
  const link = { user_id, channel_type: "discord", channel_user_id: "42" };
  expect((await call("POST", "/v1/api/admin/links", link)).body).toMatchObject({ username: "otto" });
  expect((await call("POST", "/v1/api/admin/links", link)).status).toBe(409);
  expect((await call("DELETE", `/v1/api/admin/users/${user_id}`)).status).toBe(200);
  expect((await call("GET", "/v1/api/admin/links")).body).toEqual({ links: [] });
  const audit = (await call("GET", "/v1/api/admin/audit")).body["entries"] as { action: string }[];
  expect(audit.map((entry) => entry.action).toSorted()).toEqual([
    "link.created",
    "token.created",
    "token.revoked",
    "user.created",
    "user.deleted",
  ]);
});

test("a gateway links by token, with the token's scopes, and not by guessing", async () => {
  const { anna, gateway } = await setUp();
  const links = "/v1/api/channels/discord/links";
  for (let attempt = 0; attempt < 5; attempt += 1) {
    expect((await gateway("POST", links, { channel_user_id: "1", token: "ts_wrong" })).status).toBe(400);
  }
  expect((await gateway("POST", links, { channel_user_id: "1", token: anna.token })).status).toBe(429);
  const link = await gateway("POST", links, { channel_user_id: "2", token: ` ${anna.token} ` });
  expect(link.body).toMatchObject({ user_id: anna.user_id, username: "anna", scopes: "read,write,approve" });
  expect((await gateway("POST", links, { channel_user_id: "2", token: anna.token })).status).toBe(409);
  expect((await gateway("GET", `${links}/2`)).body).toMatchObject({ username: "anna" });
  expect((await gateway("GET", "/v1/api/channels/links_of/anna")).body).toMatchObject({
    links: [{ channel_user_id: "2" }],
  });
  expect((await gateway("DELETE", `${links}/2`)).status).toBe(200);
  expect((await gateway("GET", `${links}/2`)).status).toBe(404);
});

test("a gateway keeps here what it shows, up to where, and which messages are its own", async () => {
  const { rig, anna, gateway } = await setUp();
  const ws_id = await rig.workstream(anna);
  const channel = "/v1/api/channels/discord";
  const made = await gateway("POST", `${channel}/routes`, { channel_id: "t1", ws_id, kind: "thread" });
  expect(made.body).toMatchObject({ channel_type: "discord", channel_id: "t1", ws_id, cursor_seq: 0 });
  const again = await gateway("POST", `${channel}/routes`, {
    channel_id: "t1",
    ws_id: await rig.workstream(anna),
    kind: "thread",
  });
  expect(again.body["ws_id"]).toBe(ws_id);
  expect((await gateway("POST", `${channel}/routes/t1/cursor`, { cursor_seq: 5 })).body).toMatchObject({
    cursor_seq: 5,
  });
  expect((await gateway("POST", `${channel}/routes/t1/cursor`, { cursor_seq: 3 })).body).toMatchObject({
    cursor_seq: 5,
  });
  const posted = { channel_id: "t1", message_id: "m1", ws_id, shows: "card:c1", part: 0 };
  expect((await gateway("POST", `${channel}/posted`, posted)).status).toBe(200);
  expect((await gateway("GET", `${channel}/posted/m1`)).body).toMatchObject(posted);
  expect((await gateway("GET", `${channel}/posted?ws_id=${ws_id}&shows=card:c1`)).body).toMatchObject({
    posted: [posted],
  });
  expect((await gateway("GET", `${channel}/posted?channel_id=t1`)).body).toMatchObject({ posted: [posted] });
  expect((await gateway("GET", `${channel}/posted`)).status).toBe(400);
  expect((await gateway("GET", `/v1/api/workstreams/${ws_id}/history`)).status).toBe(200);
  expect((await gateway("POST", `/v1/api/workstreams/${ws_id}/close`, { reason: "thread deleted" })).status).toBe(200);
  expect((await gateway("DELETE", `${channel}/routes/t1`)).status).toBe(200);
  expect((await gateway("GET", `${channel}/routes`)).body).toEqual({ routes: [] });
  expect((await gateway("GET", `/v1/api/workstreams/${ws_id}/history`)).status).toBe(404);
});

test("services live as long as they give signs of life, at web addresses alone", async () => {
  const { rig, gateway } = await setUp();
  const beat = (url: string) => gateway("POST", "/v1/api/services", { service_type: "channel", service_id: "g1", url });
  expect((await beat("ftp://host")).body).toMatchObject({ field: "url" });
  expect((await beat("http://127.0.0.1:8091")).status).toBe(200);
  const healthy = async (): Promise<unknown> =>
    (await gateway("GET", "/v1/api/services?service_type=channel")).body["services"];
  expect(await healthy()).toMatchObject([{ service_id: "g1", url: "http://127.0.0.1:8091", metadata: {} }]);
  rig.clock.advance(121_000);
  expect(await healthy()).toEqual([]);
  expect((await gateway("DELETE", "/v1/api/services/channel/g1")).status).toBe(200);
});
