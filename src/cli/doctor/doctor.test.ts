import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import type { PracticeDiscord } from "../../../gateway/practice/index.ts";
import { startPractice } from "../../../gateway/practice/index.ts";
import { newUserRow } from "../../auth/setup.ts";
import { systemClock } from "../../lib/clock.ts";
import { openStore } from "../../store/index.ts";
import { loadConfig } from "../../config/load.ts";
import { freePort } from "../supervisor/port.ts";
import { runTurnstone } from "../testing/run_turnstone.ts";
import type { Finding } from "./check.ts";
import { discordCheck } from "./discord.ts";
import { mcpCheck } from "./mcp.ts";

let home = "";
let practice: PracticeDiscord;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "turnstone-doctor-"));
  practice = await startPractice();
});
afterEach(async () => {
  await practice.close();
  rmSync(home, { recursive: true });
});

/** What doctor finds at Discord with these variables. */
function findings(env: Record<string, string>): Promise<Finding[]> {
  const all = {
    TURNSTONE_DATA_DIR: home,
    TURNSTONE_DISCORD_API: practice.api_url,
    TURNSTONE_DISCORD_TOKEN: practice.bot_token,
    ...env,
  };
  const result = loadConfig({ flags: {}, env: all, cwd: home, home });
  if (!result.ok) throw new Error(result.error);
  return discordCheck.run({ config: result.config, jwt_secret: "", signal: new AbortController().signal });
}

test("a bot with its intents and rights has nothing to mend", async () => {
  const found = await findings({ TURNSTONE_DISCORD_CHANNELS: practice.channelId("general") });
  expect(found.map(({ part, status }) => ({ part, status }))).toEqual([
    { part: "Discord token", status: "ok" },
    { part: "Discord intents", status: "ok" },
    { part: `Discord channel ${practice.channelId("general")}`, status: "ok" },
    { part: "Discord commands", status: "warning" },
  ]);
});

test("without named channels every text channel of the server is looked at", async () => {
  expect(await findings({})).toContainEqual({
    part: "Discord server Practice",
    status: "ok",
    message: "The bot may do what it needs in all 2 text channels.",
  });
  practice.admin.setPermissions("random", "turnstone", { deny: ["create_public_threads"] });
  expect(await findings({})).toContainEqual({
    part: "Discord server Practice",
    status: "warning",
    message: "The bot lacks rights in #random (Create Public Threads).",
    fix: "Grant these to the bot's role where it is to work.",
  });
  expect(await findings({ TURNSTONE_DISCORD_GUILD: "1" })).toContainEqual(
    expect.objectContaining({ status: "failed", message: "The bot is not in the server 1." }),
  );
});

test("registered commands are counted; where they may not be, it is said how they may", async () => {
  const application = `${practice.api_url}/v10/applications/${practice.bot_id}/commands`;
  const headers = { authorization: `Bot ${practice.bot_token}`, "content-type": "application/json" };
  const body = JSON.stringify([{ type: 1, name: "status", description: "How it stands" }]);
  expect((await fetch(application, { method: "PUT", headers, body })).status).toBe(200);
  expect(await findings({})).toContainEqual({ part: "Discord commands", status: "ok", message: "1 are registered." });
  practice.faults.onRequest({ path: "/commands" }, { kind: "status", status: 403, body: { code: 50001 } });
  expect(await findings({})).toContainEqual(
    expect.objectContaining({ status: "failed", fix: "Invite the bot again with the scope applications.commands." }),
  );
});

test("a linked person who shares no server with the bot is named", async () => {
  const store = await openStore({ path: join(home, "turnstone.db") });
  for (const [username, channel_user_id] of [
    ["ada", practice.userId("Ada")],
    ["gone", "123"],
  ] as const) {
    const row = await newUserRow({ username, display_name: null, password: null, scopes: "read" }, systemClock);
    if (row === null) throw new Error(`${username} is no name.`);
    await store.users.create(row);
    const { user_id } = row;
    await store.channels.link({
      channel_type: "discord",
      channel_user_id,
      user_id,
      scopes: "read",
      created: row.created,
    });
  }
  await store.close();
  expect(await findings({})).toContainEqual(
    expect.objectContaining({
      part: "Discord direct messages",
      status: "warning",
      message: "The bot shares no server with gone and cannot write to them.",
    }),
  );
});

test("a missing right is named together with the channel", async () => {
  practice.admin.setPermissions("general", "turnstone", { deny: ["send_messages_in_threads"] });
  const found = await findings({ TURNSTONE_DISCORD_CHANNELS: practice.channelId("general") });
  expect(found).toContainEqual(
    expect.objectContaining({
      status: "failed",
      message: "In #general the bot lacks: Send Messages in Threads.",
    }),
  );
});

test("a wrong token, an unknown channel and a Discord that does not answer each have a fix", async () => {
  expect(await findings({ TURNSTONE_DISCORD_TOKEN: "wrong" })).toMatchObject([
    {
      status: "failed",
      message: "Discord refuses the token.",
      fix: expect.stringContaining("developers/applications"),
    },
  ]);
  const unknown = await findings({ TURNSTONE_DISCORD_CHANNELS: "1" });
  expect(unknown).toContainEqual(expect.objectContaining({ status: "failed", message: "The bot does not see it." }));
  const nowhere = `http://127.0.0.1:${await freePort("127.0.0.1")}`;
  expect(await findings({ TURNSTONE_DISCORD_API: nowhere })).toMatchObject([
    { status: "failed", message: `${nowhere} does not answer (ECONNREFUSED).` },
  ]);
});

/** Something that answers alike to everything. */
function answeringWith(text: string): Promise<string> {
  return served((_request, response) => response.end(text));
}

async function served(answer: RequestListener): Promise<string> {
  const other = createServer(answer).listen(0, "127.0.0.1");
  onTestFinished(() => {
    other.closeAllConnections();
    other.close();
  });
  await once(other, "listening");
  const address = other.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

test.each([
  "",
  "<html>Log in</html>",
  "null",
  "7",
  "[]",
  "{}",
  `{"id":1,"username":null}`,
  `{"id":"x","username":"y"}`,
])("something that is no Discord and answers %j is said to be none", async (text) => {
  const api = await answeringWith(text);
  for (const channels of ["", "1"]) {
    expect(await findings({ TURNSTONE_DISCORD_API: api, TURNSTONE_DISCORD_CHANNELS: channels })).toEqual([
      {
        part: "Discord",
        status: "failed",
        message: `What ${api} answers to /users/@me is not what Discord answers.`,
        fix: expect.stringContaining("[discord] api"),
      },
    ]);
  }
});

test.each([
  { id: "1", username: "turnstone" },
  { id: "1", username: "turnstone", flags: "many", name: "x", type: 0, guild_id: "2" },
  { id: "1", username: "turnstone", name: "x", type: 0, guild_id: "2", owner_id: "3", roles: [{ permissions: "all" }] },
])("half a Discord, %j, costs the checks that it cannot answer and no others", async (answer) => {
  const api = await answeringWith(JSON.stringify(answer));
  for (const channels of ["", "1"]) {
    const found = await findings({ TURNSTONE_DISCORD_API: api, TURNSTONE_DISCORD_CHANNELS: channels });
    expect(found[0]).toMatchObject({ part: "Discord token", status: "ok" });
    expect(found).toContainEqual(
      expect.objectContaining({ status: "failed", message: expect.stringContaining("is not what Discord answers") }),
    );
  }
});

test("an answer without end is left, and one that goes in circles is said to", async () => {
  const api = await served((request, response) => {
    if (request.url?.startsWith("/circle") === true) {
      response.writeHead(302, { location: request.url }).end();
      return;
    }
    const more = (): void => {
      while (response.write(Buffer.alloc(65_536, "x"))) continue;
      response.once("drain", more);
    };
    more();
  });
  const about = async (path: string) => findings({ TURNSTONE_DISCORD_API: api + path });
  expect(await about("/endless")).toMatchObject([
    { message: `${api}/endless does not answer (its answer has no end).` },
  ]);
  expect(await about("/circle")).toMatchObject([{ message: expect.stringContaining("redirect") }]);
});

test("what others answer reaches the terminal as text", async () => {
  const api = await answeringWith(JSON.stringify({ id: "1", username: "\u001b[31mred" }));
  const env = { HOME: home, TURNSTONE_DISCORD_API: api, TURNSTONE_DISCORD_TOKEN: "x" };
  const { stdout } = await runTurnstone(["doctor"], { env });
  expect(stdout).toContain("The bot is ␛[31mred (1).");
  expect(stdout).not.toContain("\u001b");
});

test("an answer about MCP servers that makes no sense is passed over", async () => {
  const answer = JSON.stringify({ mcp_servers: [null, { server: "files" }, 7, { server: "files", state: "odd" }] });
  const other = createServer((_request, response) => response.end(answer)).listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const env = { TURNSTONE_DATA_DIR: home, TURNSTONE_PORT: String(port) };
  writeFileSync(join(home, "config.toml"), `[mcp.servers.files]\ncommand = "node"\n`);
  const result = loadConfig({ flags: { config: join(home, "config.toml") }, env, cwd: home, home });
  if (!result.ok) throw new Error(result.error);
  const found = await mcpCheck.run({ config: result.config, jwt_secret: "", signal: new AbortController().signal });
  expect(found).toEqual([{ part: "MCP server files", status: "ok", message: "node can be started." }]);
  other.close();
});

test("doctor prints one object, and fails when anything does (REQ-SERVER-034)", async () => {
  const env = { HOME: home, TURNSTONE_DISCORD_API: practice.api_url };
  const well = await runTurnstone(["doctor", "--json"], { env });
  const report: { ok: boolean; findings: Finding[] } = JSON.parse(well.stdout);
  expect({ code: well.code, ok: report.ok }).toEqual({ code: 0, ok: true });
  const parts = report.findings.map(({ part }) => part);
  for (const part of [
    "config",
    "store",
    "disk",
    "model",
    "MCP",
    "sandbox",
    "maths",
    "Discord",
    "server",
    "gateway",
    "clock",
  ]) {
    expect(parts).toContain(part);
  }
  const ill = await runTurnstone(["doctor", "--json"], { env: { ...env, TURNSTONE_PORT: "x" } });
  expect(ill.code).toBe(1);
  expect(JSON.parse(ill.stdout)).toMatchObject({ ok: false, findings: [{ part: "config", status: "failed" }] });
  const model = { ...env, TURNSTONE_BASE_URL: "http://127.0.0.1:9/v1", TURNSTONE_MODEL: "m" };
  const unreachable = await runTurnstone(["doctor"], { env: model });
  expect(unreachable.code).toBe(1);
  expect(unreachable.stdout).toContain("FAILED   model default: http://127.0.0.1:9/v1 does not list its models.");
});
