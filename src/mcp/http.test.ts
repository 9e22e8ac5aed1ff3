import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { createLog } from "../lib/log.ts";
import { HttpMcpServer } from "../../test/support/mcp/http_server.ts";
import { remote, startServers, type StartedServers } from "../../test/support/mcp/servers.ts";
import type { CallResult } from "../../test/support/tool_context.ts";

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function listen(): Promise<HttpMcpServer> {
  const server = await new HttpMcpServer().listen();
  closing.push(() => server.close());
  return server;
}

function start(...given: Parameters<typeof startServers>): StartedServers {
  const servers = startServers(...given);
  closing.push(() => servers.close());
  return servers;
}

function outputOf(result: CallResult): string {
  return result.prepared ? result.output : result.error;
}

test.each([404, 400])(
  "a session that the server forgot (%i) is opened anew and the call sent once more (MCP-22)",
  async (status) => {
    const server = await listen();
    server.unknown_session_status = status;
    const { manager, call } = start({ net: remote(server.url) });
    await manager.settled();
    server.forgetSessions();
    expect(outputOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
    expect(server.count("initialize")).toBe(2);
    const again = server.requests.filter((request) => request.rpc === "initialize").at(-1);
    expect(again?.headers["mcp-session-id"]).toBeUndefined();
  },
);

test("a server that never keeps a session is given up, not asked for ever (MCP-22)", async () => {
  const server = await listen();
  const { manager, call } = start({ net: remote(server.url) });
  await manager.settled();
  server.refuse_status = 404;
  expect(outputOf(await call("echo", {}))).toContain("The MCP server net is unavailable");
  expect(server.requests.length).toBeLessThan(20);
});

test("headers stay within the origin and out of the log (MCP-32)", async () => {
  const [front, elsewhere] = [await listen(), await listen()];
  front.redirect = { status: 307, location: elsewhere.url };
  const lines: string[] = [];
  const log = createLog({
    level: "debug",
    format: "text",
    redact: (line) => line,
    write: (line) => void lines.push(line),
    now: Date.now,
  });
  const { manager, state } = start(
    { net: remote(front.url, { authorization: "Bearer geheim-42", "x-key": "geheim-43" }) },
    { log },
  );
  await manager.settled();
  expect(state("net")).toMatchObject({ state: "unavailable", problem: expect.stringContaining("another origin") });
  expect(front.requests[0]?.headers["x-key"]).toBe("geheim-43");
  expect(elsewhere.requests).toEqual([]);
  expect(lines.join("")).not.toContain("geheim");
});

test("a redirect within the origin is followed with the message and its headers", async () => {
  const server = await listen();
  const moved = `${server.url}/there`;
  server.redirect = { status: 308, location: moved };
  const { manager, call } = start({ net: remote(server.url, { "x-key": "k" }) }, { limits: { pause_ms: 20 } });
  await manager.settled();
  expect(manager.status()[0]?.problem).toContain("redirects too often");
  server.redirect = null;
  await manager.refresh("net");
  expect(outputOf(await call("echo", { n: 2 }))).toBe('{"n":2}');
});

test.each([
  [401, "It refuses the credential (HTTP 401)"],
  [500, "It answers HTTP 500"],
])("a server that answers %i says so", async (status, problem) => {
  const server = await listen();
  server.refuse_status = status;
  const { manager } = start({ net: remote(server.url) });
  await manager.settled();
  expect(manager.status()[0]).toMatchObject({ state: "unavailable", problem: expect.stringContaining(problem) });
});

test("a server on the network that goes away is noticed, and taken again when it is back (MCP-04)", async () => {
  const server = await listen();
  const { manager, call, state, until } = start(
    { net: remote(server.url) },
    { limits: { ping_interval_ms: 100, ping_timeout_ms: 1000 } },
  );
  await manager.settled();
  await server.close();
  await until(() => state("net")?.state === "unavailable");
  expect(outputOf(await call("echo", {}))).toContain("The MCP server net is unavailable");
  server.forgetSessions();
  await server.listen();
  await until(() => state("net")?.state === "ready");
  expect(outputOf(await call("echo", { n: 3 }))).toBe('{"n":3}');
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

test.each([
  ["streamableHttp", "http", "/mcp"],
  ["sse", "sse", "/sse"],
] as const)("the published server for everything works over %s", async (mode, type, path) => {
  const port = await freePort();
  const program = fileURLToPath(
    new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
  );
  const child = spawn(process.execPath, [program, mode], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: "ignore",
  });
  closing.push(() => void child.kill());
  const { manager, call, until, state } = start({ all: remote(`http://127.0.0.1:${port}${path}`, {}, type) });
  await until(() => state("all")?.state === "ready");
  expect(outputOf(await call("echo", { message: "over the wire" }))).toContain("over the wire");
  const long = await call("trigger-long-running-operation", { duration: 1, steps: 4 }, { timeout_s: 20 });
  expect(outputOf(long)).toContain("completed");
  expect(manager.status()[0]?.problem).toBeNull();
});
