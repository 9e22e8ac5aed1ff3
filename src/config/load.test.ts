import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Config, ConfigSources } from "./load.ts";
import { loadConfig } from "./load.ts";
import { secretValues } from "./secrets.ts";

let home = "";
let file = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "turnstone-config-"));
  file = join(home, "config.toml");
});
afterEach(() => rmSync(home, { recursive: true }));

function load(toml: string, env: ConfigSources["env"] = {}, flags: ConfigSources["flags"] = {}): Config {
  const result = tryLoad(toml, env, flags);
  if (!result.ok) throw new Error(result.error);
  return result.config;
}

function tryLoad(
  toml: string,
  env: ConfigSources["env"] = {},
  flags: ConfigSources["flags"] = {},
): ReturnType<typeof loadConfig> {
  writeFileSync(file, toml);
  return loadConfig({ flags: { config: file, ...flags }, env, cwd: home, home });
}

function refusal(toml: string, env: ConfigSources["env"] = {}, flags: ConfigSources["flags"] = {}): string {
  const result = tryLoad(toml, env, flags);
  if (result.ok) throw new Error("these settings were accepted");
  return result.error.replaceAll(file, "config.toml");
}

test("without a file, a variable or a flag every default of the contract holds", () => {
  const result = loadConfig({ flags: {}, env: {}, cwd: home, home });
  if (!result.ok) throw new Error(result.error);
  const { config } = result;
  expect(config).toMatchObject({
    config_path: join(home, ".config/turnstone/config.toml"),
    server: { data_dir: join(home, ".local/share/turnstone"), host: "127.0.0.1", port: 8080 },
    database: { url: null },
    auth: { jwt_secret: null },
    model: { default: null, fallback: [], agent_model: null },
    workspace: { root: null, channels: {} },
    tools: { timeout: 120, truncation: 0, agent_max_turns: 50, skip_permissions: false },
    api: { tavily_key: null, tavily_url: "https://api.tavily.com" },
    approval: { timeout: 0, rules: [] },
    ratelimit: { enabled: true, requests_per_second: 50, burst: 200 },
    mcp: { config_path: null, refresh_interval: 14_400, servers: {} },
    discord: { token: null, api: "https://discord.com/api", guild: null, channels: [], edit_interval_ms: 1500 },
    gateway: { server_url: "http://127.0.0.1:8080", host: "127.0.0.1", port: 8091, advertise_url: null },
    practice: { port: 8092 },
    sandbox: { mode: "auto", network: true },
    log: { level: "info", format: null },
  });
  expect(config.tools).toMatchObject({ search: "auto", search_threshold: 20, search_max_results: 5 });
  expect(config.discord.thread_auto_archive_minutes).toBe(1440);
  expect(Object.keys(config.models)).toEqual([]);
});

test("a flag wins over a variable, a variable over the file (REQ-SERVER-025)", () => {
  const toml = "[server]\nport = 9001\nhost = '10.0.0.1'\n[tools]\nsearch = 'off'\n";
  const config = load(
    toml,
    { TURNSTONE_PORT: "9002", TURNSTONE_HOST: "10.0.0.2" },
    { port: "9003", "tool-search": "on" },
  );
  expect(config.server).toMatchObject({ port: 9003, host: "10.0.0.2" });
  expect(config.tools.search).toBe("on");
});

test("a variable that is set to nothing counts as unset", () => {
  expect(load("[server]\nport = 9001\n", { TURNSTONE_PORT: "", OPENAI_API_KEY: "" })).toMatchObject({
    server: { port: 9001 },
    models: {},
  });
});

test("the whole of the settings is frozen", () => {
  const config = load("[[approval.rules]]\naction = 'deny'\ntool = 'bash'\n");
  expect(() => Object.assign(config.server, { port: 1 })).toThrow(TypeError);
  expect(() => Object.assign(config.approval.rules[0] ?? {}, { tool: "x" })).toThrow(TypeError);
});

test.each([
  [
    "[server]\nprot = 1\n",
    "config.toml, line 2: [server] prot is not a setting (did you mean port?); allowed here are data_dir, host, port, public_url, trusted_proxies and allowed_hosts.",
  ],
  ["[sever]\nport = 1\n", "config.toml, line 1: [sever] is not a section (did you mean server?); allowed here are"],
  [
    "[server]\n\nport = 70000\n",
    "config.toml, line 3: [server] port must be a whole number from 0 to 65535, not 70000.",
  ],
  ["[server]\nport = '80'\n", 'config.toml, line 2: [server] port must be a whole number from 0 to 65535, not "80".'],
  ["server = 1\n", "config.toml, line 1: server must be a table, written as [server]."],
  ["[tools]\nsearch = 'maybe'\n", 'config.toml, line 2: [tools] search must be auto, on or off, not "maybe".'],
  ["[tools]\nskip_permissions = 1\n", "config.toml, line 2: [tools] skip_permissions must be true or false, not 1."],
  ["[discord]\nthread_auto_archive_minutes = 90\n", "must be 60, 1440, 4320 or 10080, not 90."],
  [
    "[discord.roles]\nmods = 'use'\n",
    'config.toml, line 2: "mods" in [discord.roles] must be a role\'s id, which is made of digits.',
  ],
  [
    "[database]\nurl = 'mysql://x'\n",
    "config.toml, line 2: [database] url must be an address that begins with postgres://.",
  ],
  ["[approval]\nrules = 'none'\n", "config.toml, line 2: approval.rules must be written as [[approval.rules]]."],
  ["[[approval.rules]]\naction = 'deny'\n", "config.toml, line 1: [approval.rules.0] tool is missing; it must be"],
  [
    "[models.fast]\nprovider = 'gemini'\n",
    'config.toml, line 2: [models.fast] provider must be openai-compatible, openai, anthropic or demo, not "gemini".',
  ],
  ["[models.fast.capabilities]\ncontext = 1\n", "[models.fast.capabilities] context is not a setting"],
  ["[models.'a b']\nmodel = 'x'\n", '"a b" in [models] must be letters, digits,'],
  [
    "[model]\ndefault = 'x'\n[models.y]\nmodel = 'm'\n",
    'config.toml, line 2: [model] default names the model "x", which is not set; allowed are y.',
  ],
  [
    "[models.y]\nmodel = 'm'\n[approval]\njudge = 'x'\n",
    'config.toml, line 4: [approval] judge names the model "x", which is not set; allowed are y.',
  ],
  ["[approval]\nauto_approve_below = 'x'\n", 'auto_approve_below must be none, medium or high, not "x".'],
  [
    "[approval]\nauto_approve_below = 'high'\n",
    "config.toml, line 2: [approval] auto_approve_below needs a judge; set [approval] judge, or remove it.",
  ],
  [
    "[discord.budgets]\ntokens_per_day = -1\n",
    "tokens_per_day must be a whole number from 0 to 9007199254740991, not -1.",
  ],
  ["[discord.budgets]\ncost_usd_per_day = nan\n", "cost_usd_per_day must be a number from 0 to 1000000, not nan."],
  ["[discord.budgets]\ncost_usd_per_day = -inf\n", "cost_usd_per_day must be a number from 0 to 1000000, not -inf."],
  ["[mcp.servers.a]\nargs = ['x']\n", "config.toml, line 1: [mcp.servers.a] must set either command or url."],
  [
    "[mcp.servers.a]\ntype = 'http'\ncommand = 'x'\n",
    'config.toml, line 1: [mcp.servers.a] must set url for type "http".',
  ],
  ["[server\nport = 1\n", "config.toml, line 1: this is not TOML:"],
  [
    "[api]\ntavily_key = '${env:NOT_SET}'\n",
    "config.toml, line 2: the variable NOT_SET that ${env:NOT_SET} asks for is not set.",
  ],
  ["[api]\ntavily_key = '${file:gone.txt}'\n", "gone.txt cannot be read: there is no such file."],
])("bad settings are refused in one sentence that says where and what is allowed: %j", (toml, sentence) => {
  const error = refusal(toml);
  expect(error).toContain(sentence);
  expect(error.split("\n")).toHaveLength(1);
});

test.each([
  [{ TURNSTONE_PORT: "80x" }, {}, 'TURNSTONE_PORT must be a whole number from 0 to 65535, not "80x".'],
  [{ TURNSTONE_RATELIMIT: "perhaps" }, {}, 'TURNSTONE_RATELIMIT must be true or false, not "perhaps".'],
  [
    { TURNSTONE_SERVER_URL: "ftp://x" },
    {},
    "TURNSTONE_SERVER_URL must be an address that begins with http:// or https://",
  ],
  [
    { TURNSTONE_PROVIDER: "x" },
    {},
    'TURNSTONE_PROVIDER must be openai-compatible, openai, anthropic or demo, not "x".',
  ],
  [
    { TURNSTONE_DISCORD_CHANNELS: "1,x" },
    {},
    "TURNSTONE_DISCORD_CHANNELS must be a list whose every entry is an id made of digits",
  ],
  [{}, { port: "-1" }, '--port must be a whole number from 0 to 65535, not "-1".'],
  [
    {},
    { "mcp-refresh-interval": "soon" },
    '--mcp-refresh-interval must be a whole number from 0 to 31536000, not "soon".',
  ],
])("bad variables and flags are refused by name: %j %j", (env, flags, sentence) => {
  expect(refusal("", env, flags)).toContain(sentence);
});

test("a short secret is refused and not repeated", () => {
  const error = refusal("", { TURNSTONE_JWT_SECRET: "short-but-secret" });
  expect(error).toBe("TURNSTONE_JWT_SECRET must be at least 32 bytes long.");
});

test("every problem is named, one a line (REQ-SERVER-026)", () => {
  expect(refusal("[server]\nport = 'x'\n[log]\nlevel = 'loud'\n").split("\n")).toHaveLength(2);
});

const REMEDY = "Put a file there that this user may read, or name another with --config or TURNSTONE_CONFIG.";

test("a settings file that was asked for and is missing stops the start", () => {
  const result = loadConfig({ flags: { config: "gone.toml" }, env: {}, cwd: home, home });
  expect(result).toEqual({
    ok: false,
    error: `The settings file ${home}/gone.toml cannot be read: there is no such file. ${REMEDY}`,
  });
});

test("a folder where the settings file should be stops the start", () => {
  mkdirSync(join(home, ".config/turnstone/config.toml"), { recursive: true });
  expect(loadConfig({ flags: {}, env: {}, cwd: home, home })).toEqual({
    ok: false,
    error: `The settings file ${home}/.config/turnstone/config.toml cannot be read: it is a folder. ${REMEDY}`,
  });
});

test("texts of the file may name variables and files", () => {
  writeFileSync(join(home, "key.txt"), "from-a-file\n");
  const toml = "[api]\ntavily_key = '${file:key.txt}'\n[discord]\ntoken = 'Bot.${env:PART}'\n";
  expect(load(toml, { PART: "xyz" })).toMatchObject({
    api: { tavily_key: "from-a-file" },
    discord: { token: "Bot.xyz" },
  });
});

test("paths know the home folder and the folder of the file that names them", () => {
  const config = load("[workspace]\nroot = '~/code'\n[workspace.channels]\n123 = 'here'\n", {
    TURNSTONE_DATA_DIR: "data",
  });
  expect(config.workspace).toMatchObject({ root: join(home, "code"), channels: { "123": join(home, "here") } });
  expect(config.server.data_dir).toBe(join(home, "data"));
});

test("ids may be written without quotes, also those beyond a double's precision", () => {
  const config = load("[discord]\nguild = 1234567890123456789\nchannels = [1, '2']\n");
  expect(config.discord).toMatchObject({ guild: "1234567890123456789", channels: ["1", "2"] });
});

test.each([
  [{ OPENAI_API_KEY: "sk-o" }, { provider: "openai", base_url: "https://api.openai.com/v1", api_key: "sk-o" }],
  [{ ANTHROPIC_API_KEY: "sk-a" }, { provider: "anthropic", base_url: "https://api.anthropic.com", api_key: "sk-a" }],
  [
    { ANTHROPIC_API_KEY: "sk-a", OPENAI_API_KEY: "sk-o", TURNSTONE_PROVIDER: "anthropic" },
    { provider: "anthropic", api_key: "sk-a" },
  ],
  [
    { ANTHROPIC_API_KEY: "sk-a", TURNSTONE_MODEL: "claude-x" },
    { provider: "anthropic", model: "claude-x", api_key: "sk-a" },
  ],
  [
    { TURNSTONE_BASE_URL: "http://127.0.0.1:9/v1/" },
    { provider: "openai-compatible", base_url: "http://127.0.0.1:9/v1", api_key: null },
  ],
  [
    { TURNSTONE_BASE_URL: "http://127.0.0.1:9/v1", TURNSTONE_API_KEY: "k", TURNSTONE_MODEL: "m" },
    { provider: "openai-compatible", model: "m", api_key: "k" },
  ],
  [{ TURNSTONE_MODEL: "qwen" }, { provider: "openai-compatible", base_url: null, model: "qwen" }],
])("the default model follows from the environment: %j", (env, model) => {
  const config = load("", env);
  expect(config.models["default"]).toMatchObject(model);
  expect(config.model.default).toBe("default");
});

test("a vendor's key is not sent to an address that names another server (REQ-SERVER-028)", () => {
  expect(
    load("", { TURNSTONE_BASE_URL: "http://elsewhere/v1", OPENAI_API_KEY: "sk-o" }).models["default"]?.api_key,
  ).toBeNull();
});

test("of several models the one called default is the default, else the first, else the one that is named", () => {
  const two = "[models.a]\nmodel = 'x'\n[models.b]\nmodel = 'y'\n[models.b.capabilities]\ncontext_window = 4096\n";
  expect(load(two).model.default).toBe("a");
  expect(load(`${two}[models.default]\nmodel = 'z'\n`).model.default).toBe("default");
  expect(load(`[model]\ndefault = 'b'\nfallback = ['a']\n${two}`).model).toEqual({
    default: "b",
    fallback: ["a"],
    agent_model: null,
  });
  expect(load(two).models["b"]?.capabilities).toEqual({ context_window: 4096 });
});

test("the gateway looks for the server where the server listens", () => {
  expect(load("", { TURNSTONE_PORT: "9000", TURNSTONE_HOST: "0.0.0.0" }).gateway.server_url).toBe(
    "http://127.0.0.1:9000",
  );
  expect(load("", { TURNSTONE_HOST: "::1" }).gateway.server_url).toBe("http://[::1]:8080");
});

const NO_OAUTH = { oauth_client_id: null, oauth_client_secret: null, oauth_scope: null };

test("an MCP file stands in for the servers of the settings, and its other keys are left alone", () => {
  const servers = { files: { command: "npx", args: ["-y", " x "], env: { A: "${env:PART}" }, disabled: false } };
  writeFileSync(join(home, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  const config = load("[mcp.servers.other]\ncommand = 'x'\n", { PART: "p" }, { "mcp-config": "mcp.json" });
  expect(config.mcp.servers).toEqual({
    files: { type: null, command: "npx", args: ["-y", " x "], env: { A: "p" }, url: null, headers: {}, ...NO_OAUTH },
  });
});

test.each([
  ["[]", 'mcp.json must be JSON with an object "mcpServers"'],
  ["{", 'mcp.json must be JSON with an object "mcpServers"'],
  [
    '{"mcpServers": {"a": {"command": 1}}}',
    "mcp.json: [mcp.servers.a] command must be a text that is not empty, not 1.",
  ],
])("a bad MCP file stops the start: %s", (content, sentence) => {
  writeFileSync(join(home, "mcp.json"), content);
  expect(refusal("", {}, { "mcp-config": "mcp.json" })).toContain(sentence);
});

test("names that every object has are ordinary names here", () => {
  const config = load("[mcp.servers.constructor]\ncommand = 'x'\n[models.toString]\nmodel = 'm'\n");
  expect(Object.keys(config.mcp.servers)).toEqual(["constructor"]);
  expect(config.model.default).toBe("toString");
  expect(refusal("[model]\nfallback = ['valueOf']\n[models.y]\nmodel = 'm'\n")).toContain(
    '"valueOf", which is not set',
  );
});

test("a variable that looks like one of ours is pointed out", () => {
  const result = tryLoad("", { TURNSTONE_PROT: "1", TURNSTONE_PORT: "1" });
  expect(result).toMatchObject({
    warnings: ["The variable TURNSTONE_PROT means nothing to turnstone; did you mean TURNSTONE_PORT?"],
  });
});

test("every secret of the settings is known to the redactor (SECR-03)", () => {
  const toml = [
    "[mcp.servers.a]\nurl = 'https://x'\n[mcp.servers.a.headers]\nAuthorization = 'Bearer header-secret'\nAccept = 'text/plain'",
    "[mcp.servers.b]\ncommand = 'x'\nargs = ['--api-key', 'flag-secret', '--token=equal-secret', '--verbose']",
    "[mcp.servers.b.env]\nGITHUB_TOKEN = 'ghp_secret'\nLANG = 'C.UTF-8-long'\nDSN = 'mysql://u:dsn-secret@h/d'",
    "[mcp.servers.c]\nurl = 'https://x/mcp?api_key=query-secret&page=long-enough'",
    "[models.m]\napi_key = 'model-secret'\n[database]\nurl = 'postgres://u:p%40ssword@h/db'\n",
  ].join("\n");
  const environment = {
    AWS_SECRET_ACCESS_KEY: "environment-secret",
    SSH_AUTH_SOCK: "/run/agent.sock",
    MY_TOKEN: "password",
  };
  const config = load(toml, { TURNSTONE_DISCORD_TOKEN: "discord-secret" });
  const secrets = secretValues(config, "jwt-secret-in-use", environment);
  expect(secrets.toSorted()).toEqual(
    [
      "Bearer header-secret",
      "discord-secret",
      "dsn-secret",
      "environment-secret",
      "equal-secret",
      "flag-secret",
      "ghp_secret",
      "header-secret",
      "jwt-secret-in-use",
      "model-secret",
      "p%40ssword",
      "p@ssword",
      "query-secret",
    ].toSorted(),
  );
});
