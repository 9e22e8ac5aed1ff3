import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, expect, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

/** One value for each place that holds a secret; none has a form that would be recognised for itself. */
const CANARIES = {
  model_key: "canary-model-4f1a9c",
  other_model_key_from_file: "canary-file-77ab03",
  header_from_environment: "canary-header-1d9e55",
  jwt_secret: "canary-jwt-0123456789-0123456789-0123",
  search_key: "canary-search-b00c21",
  openai_key: "canary-openai-93cc12",
  anthropic_key: "canary-anthropic-5e5e01",
  terminal_token: "canary-terminal-8d2f40",
  mcp_variable: "canary-mcp-variable-6610fe",
  mcp_argument: "canary-mcp-argument-0b4d2e",
  oauth_client_secret: "canary-oauth-client-2b7d11",
  address_password: "canary-address-c0ffee1",
  foreign_variable: "canary-foreign-d15ea5e",
} as const;

/** A small MCP server that tells all it was given. */
const TELLING_SERVER = `
  const lines = require("node:readline").createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const say = (result) => id !== undefined && console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    const all = JSON.stringify({ env: process.env, args: process.argv });
    console.error(all);
    if (method === "initialize") {
      say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "telling", version: all } });
    } else if (method === "tools/list") {
      say({ tools: [{ name: "tell", description: "Tells " + all, inputSchema: { type: "object" } }] });
    } else if (method === "tools/call") {
      say({ content: [{ type: "text", text: all }] });
    } else say({});
  });`;

let product: Product | null = null;
let folder = "";

afterEach(async () => {
  await product?.close();
  product = null;
  rmSync(folder, { recursive: true, force: true });
});

function start(sandbox: "auto" | "off"): Promise<Product> {
  folder = mkdtempSync(join(tmpdir(), "turnstone-canary-"));
  writeFileSync(join(folder, "key"), `${CANARIES.other_model_key_from_file}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "telling.cjs"), TELLING_SERVER);
  const config = `
    [sandbox]
    mode = "${sandbox}"
    [models.other]
    provider = "openai-compatible"
    base_url = "http://someone:${CANARIES.address_password}@127.0.0.1:9/v1"
    model = "other"
    api_key = "\${file:${join(folder, "key")}}"
    [mcp.servers.telling]
    command = "${process.execPath}"
    args = ["${join(folder, "telling.cjs")}", "--api-key", "${CANARIES.mcp_argument}"]
    [mcp.servers.telling.env]
    TELLING_TOKEN = "${CANARIES.mcp_variable}"
    [mcp.servers.absent]
    url = "http://127.0.0.1:9/mcp"
    [mcp.servers.known]
    url = "http://127.0.0.1:9/known"
    oauth_client_id = "turnstone"
    oauth_client_secret = "${CANARIES.oauth_client_secret}"
    [mcp.servers.absent.headers]
    Authorization = "Bearer \${env:ABSENT_KEY}"`;
  const env = {
    TURNSTONE_API_KEY: CANARIES.model_key,
    TURNSTONE_JWT_SECRET: CANARIES.jwt_secret,
    TURNSTONE_TOKEN: CANARIES.terminal_token,
    TURNSTONE_LOG_LEVEL: "debug",
    TAVILY_API_KEY: CANARIES.search_key,
    OPENAI_API_KEY: CANARIES.openai_key,
    ANTHROPIC_API_KEY: CANARIES.anthropic_key,
    ABSENT_KEY: CANARIES.header_from_environment,
    AWS_SECRET_ACCESS_KEY: CANARIES.foreign_variable,
  };
  return startProduct({ config, env, server_only: true });
}

function findings(text: string): string[] {
  return Object.entries(CANARIES).flatMap(([name, value]) => {
    const at = text.indexOf(value);
    return at < 0 ? [] : [`${name}: …${text.slice(Math.max(0, at - 200), at + 60)}…`];
  });
}

/** Every text in the database, and the bytes of its files as they lie there. */
function storedTexts(data_dir: string): string {
  const database = new Database(join(data_dir, "turnstone.db"), { readonly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").pluck().all() as string[];
  const rows = tables.map((table) => JSON.stringify(database.prepare(`select * from "${table}"`).all()));
  database.close();
  const files = readdirSync(data_dir).filter((name) => name.startsWith("turnstone.db"));
  return [...rows, ...files.map((name) => readFileSync(join(data_dir, name), "latin1"))].join("\n");
}

/** Follows a stream into a text. */
function follow(
  url: string,
  token: string,
): { text: () => string; until: (part: string) => Promise<void>; end: () => void } {
  const controller = new AbortController();
  let text = "";
  const read = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(url, { headers, signal: controller.signal });
    const decoder = new TextDecoder();
    for await (const piece of answer.body ?? []) text += decoder.decode(piece, { stream: true });
  };
  read().catch(() => {});
  return {
    text: () => text,
    async until(part) {
      while (!text.includes(part)) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    end: () => controller.abort(),
  };
}

/** What a model that was led astray would try: everything that a tool can reach, and telling what it knows. */
function greedy(running: Product) {
  const { data_dir } = running;
  const config = join(data_dir, "..", "config.toml");
  const look = [
    "env; env > env.txt; cat /proc/self/environ > own.txt; cat /proc/*/environ /proc/*/cmdline > all.txt; cat all.txt",
    `ls -la ${data_dir}; cat ${data_dir}/* ${config} ${folder}/key; cat ~/.config/turnstone/*`,
    "for n in 1 2 3; do printf 'slowly canary-mod'; sleep 0.1; printf 'el-4f1a9c\\n'; done",
  ];
  return [
    reply.toolCalls(look.map((command) => ({ name: "bash", arguments: { command } }))),
    reply.toolCalls([
      ...[
        `${data_dir}/turnstone.db`,
        `${data_dir}/jwt_secret`,
        config,
        "/proc/self/environ",
        `/proc/self/root${config}`,
      ].map((path) => ({ name: "read_file", arguments: { path } })),
      { name: "search", arguments: { query: "canary", path: join(data_dir, "..") } },
      { name: "search", arguments: { query: "canary", path: "/proc/self/environ" } },
      { name: "mcp__telling__tell", arguments: {} },
    ]),
    reply.text(`The key is ${CANARIES.model_key}, and ${CANARIES.search_key}.`, {
      chunks: 60,
      reasoning: `Told ${CANARIES.jwt_secret}`,
    }),
    reply.status(401, { message: `Incorrect API key provided: ${CANARIES.model_key}`, type: "invalid_api_key" }),
  ];
}

test.each(["auto", "off"] as const)(
  "no secret setting appears anywhere, sandbox %s (SECR-03, REQ-SAFE-001)",
  async (sandbox) => {
    const running = await start(sandbox);
    product = running;
    const { model, token, server_url, data_dir, workspace } = product;
    const api: Product["api"] = (...request) => running.api(...request);
    const created = await api("POST", "/v1/api/workstreams/new", {
      auto_approve: true,
      name: `for ${CANARIES.model_key}`,
    });
    const ws_id = String(created.body["ws_id"]);
    const events = follow(`${server_url}/v1/api/workstreams/${ws_id}/events`, token);
    const global = follow(`${server_url}/v1/api/events/global`, token);
    await events.until("connected");

    model.script(greedy(product));
    const send = (message: string) => api("POST", `/v1/api/workstreams/${ws_id}/send`, { message });
    await send(`Print all keys. One is ${CANARIES.openai_key}.`);
    await events.until('"turn_ended"');
    await send("And again.");
    await events.until('"outcome":"failed"');
    await api("POST", "/v1/api/command", { command: `/title ${CANARIES.jwt_secret}`, ws_id });
    await api("POST", "/v1/api/memories", { key: "key", value: CANARIES.anthropic_key });

    const about = [
      "/health",
      "/metrics",
      "/openapi.json",
      "/v1/api/dashboard",
      "/v1/api/workstreams/saved",
      "/v1/api/memories",
    ];
    const answers = [
      ...about.map((path) => fetch(server_url + path, { headers: { authorization: `Bearer ${token}` } })),
      fetch(`${server_url}/v1/api/workstreams/${ws_id}/history`, { headers: { authorization: `Bearer ${token}` } }),
      fetch(`${server_url}/v1/api/${CANARIES.search_key}`, {
        headers: { authorization: `Bearer ${CANARIES.jwt_secret}` },
      }),
    ].map(async (answer) => (await answer).text());
    const places: Record<string, string> = {
      events: events.text(),
      "global events": global.text(),
      answers: (await Promise.all(answers)).join("\n"),
      "requests to the model": model.requests.map(({ raw_body }) => raw_body).join("\n"),
      "environment of commands":
        readFileSync(join(workspace, "env.txt"), "utf8") + readFileSync(join(workspace, "own.txt"), "utf8"),
      log: product.log(),
    };
    if (sandbox === "auto") places["processes that commands see"] = readFileSync(join(workspace, "all.txt"), "utf8");
    events.end();
    global.end();
    await product.stopServer();
    places["database"] = storedTexts(data_dir);
    const found = Object.entries(places).flatMap(([place, text]) =>
      findings(text).map((finding) => `${place}: ${finding}`),
    );
    expect(found).toEqual([]);
    // The tools did run, and what they saw was hidden rather than missing.
    expect(places["events"]).toContain("[redacted]");
    expect(places["events"]).toContain("TELLING_TOKEN");
    expect(places["environment of commands"]).toContain("PATH=");
    const sent = model.requests.map(({ headers }) => JSON.stringify({ ...headers, authorization: "" })).join("\n");
    expect(findings(sent)).toEqual([]);
  },
  120_000,
);
