import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { hostile, program, published, startServers, type StartedServers } from "../../test/support/mcp/servers.ts";
import type { CallResult } from "../../test/support/tool_context.ts";

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function start(...given: Parameters<typeof startServers>): StartedServers {
  const servers = startServers(...given);
  closing.push(() => servers.close());
  return servers;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "turnstone-mcp-"));
  closing.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function ran(result: CallResult): Extract<CallResult, { prepared: true }> {
  if (!result.prepared) throw new Error(result.error);
  return result;
}

function recorded(path: string): JsonObject[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonObject);
}

/** Resolves when the record holds what is looked for. */
async function untilRecorded(path: string, found: (messages: JsonObject[]) => boolean): Promise<void> {
  await expect.poll(() => found(recorded(path)), { timeout: 10_000, interval: 20 }).toBe(true);
}

test("servers connect side by side, and those that fail harm no other (MCP-02, MCP-07, REQ-MCP-003)", async () => {
  const { manager, call } = start({
    missing: program("/no/such/program"),
    ending: hostile({ exit_code: 3 }),
    fine: hostile(),
    a__b: hostile(),
    "": hostile(),
    "my server": hostile(),
  });
  await manager.settled();
  const states = Object.fromEntries(
    manager.status().map(({ server, state, problem }) => [server, `${state}: ${problem ?? ""}`]),
  );
  expect(states["missing"]).toBe("unavailable: The program /no/such/program was not found.");
  expect(states["ending"]).toBe(
    "unavailable: The program ended with exit code 3; it last said: the settings are wrong",
  );
  expect(states["fine"]).toBe("ready: ");
  expect(states["a__b"]).toMatch(/^rejected: .*two underscores/);
  expect(states[""]).toMatch(/^rejected: .*empty/);
  expect(ran(await call("mcp__fine__echo", { text: "hi" })).output).toBe("hi");
  const names = manager.tools().map((tool) => tool.definition.name);
  expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
  const cleaned = names.find((name) => name.startsWith("mcp__my_server__echo_")) ?? "";
  expect(ran(await call(cleaned, { text: "mapped back" })).output).toBe("mapped back");
});

test("stray lines, split frames and a flood of stderr do not disturb (MCP-01, MCP-26)", async () => {
  const { manager, call } = start({
    noisy: hostile({ noise: ["starting...", '{"level":"info"}', "{broken"], piece_bytes: 7, stderr_bytes: 1_000_000 }),
  });
  await manager.settled();
  expect(ran(await call("echo", { text: "Grüße 🙂" })).output).toBe("Grüße 🙂");
});

test("a slow server does not delay others, and is taken when it comes (MCP-03)", async () => {
  const { manager, state, until, find } = start(
    { slow: hostile({ answer_after_ms: 1500 }), never: hostile({ answer_after_ms: -1 }), quick: hostile() },
    { limits: { connect_deadline_ms: 900 } },
  );
  await manager.settled();
  expect(state("slow")?.problem).toContain("has not answered within");
  await until(() => state("slow")?.state === "ready" && state("quick")?.state === "ready");
  expect(find("mcp__slow__echo")).toBeDefined();
  expect(state("never")?.state).toBe("unavailable");
});

test("a server that dies in a call gives an error at once, and comes back (MCP-04, REQ-MCP-004)", async () => {
  const { manager, call, state, until, pictures } = start({ frail: hostile(), steady: hostile() });
  await manager.settled();
  const crashed = ran(await call("mcp__frail__crash"));
  expect(crashed).toMatchObject({ is_error: true, effect: "unknown" });
  expect(crashed.output).toContain("The MCP server frail went away during crash (The program ended with exit code 7");
  expect(ran(await call("mcp__steady__echo", { text: "still here" })).output).toBe("still here");
  await until(() => state("frail")?.state === "ready");
  expect(ran(await call("mcp__frail__echo", { text: "back" })).output).toBe("back");
  const down = pictures
    .flatMap(({ servers }) => servers)
    .filter(({ name, unavailable }) => name === "frail" && unavailable !== null);
  expect(down.at(-1)?.tools.length).toBeGreaterThan(0);
});

test("tools of a server that is away say so (TSRCH-04, MCP-04)", async () => {
  const { manager, call, until, state } = start({ frail: hostile() }, { limits: { pause_ms: 60_000 } });
  await manager.settled();
  await call("crash");
  await until(() => state("frail")?.state === "unavailable");
  const refused = await call("echo", { text: "x" });
  expect(refused).toMatchObject({
    prepared: false,
    error: expect.stringContaining("The MCP server frail is unavailable"),
  });
});

test("errors of the protocol are told in the server's words (MCP-19)", async () => {
  const { manager, call } = start({ s: hostile() });
  await manager.settled();
  expect(ran(await call("refuse", { code: -32_602, message: "text is missing" }))).toMatchObject({
    output: "The MCP server s refused the call of refuse: text is missing",
    is_error: true,
    effect: "none",
  });
  expect(ran(await call("refuse", { code: -32_000, message: "session not found" }))).toMatchObject({
    output: "The MCP server s failed in refuse: session not found",
    is_error: true,
    effect: "unknown",
  });
  expect(manager.status()[0]?.state).toBe("ready");
});

test("progress keeps a call alive beyond its limit, and is shown (MCP-20)", async () => {
  const { manager, call, bench } = start({ s: hostile() });
  await manager.settled();
  const result = ran(await call("slow", { steps: 8, step_ms: 250 }, { timeout_s: 1 }));
  expect(result.output).toBe("done at last");
  expect(bench.chunks[0]).toBe("step 1 (1 of 8)\n");
});

test("a call without an answer ends at its limit, and the server is told (MCP-20, MCP-21, REQ-MCP-007)", async () => {
  const record = join(folder(), "record");
  const { manager, call } = start({ s: hostile({ record }) });
  await manager.settled();
  const result = ran(await call("hang", {}, { timeout_s: 1 }));
  expect(result).toMatchObject({ is_error: true, effect: "unknown" });
  expect(result.output).toContain("gave no answer to hang within 1 s");
  await untilRecorded(record, (messages) =>
    messages.some((message) => message["method"] === "notifications/cancelled"),
  );
});

test("a cancel reaches the server, once, and touches no call that is over (MCP-21)", async () => {
  const record = join(folder(), "record");
  const { manager, call } = start({ s: hostile({ record }) });
  await manager.settled();
  const turn = new AbortController();
  await call("echo", { text: "over" }, { signal: turn.signal });
  const waiting = call("hang", {}, { signal: turn.signal });
  await untilRecorded(record, (messages) => JSON.stringify(messages.at(-1)).includes('"hang"'));
  const asked = recorded(record).at(-1)?.["id"];
  turn.abort(new Error("The turn was cancelled."));
  await expect(waiting).rejects.toThrow("The turn was cancelled.");
  await untilRecorded(record, (messages) =>
    messages.some((message) => message["method"] === "notifications/cancelled"),
  );
  const cancels = recorded(record).filter((message) => message["method"] === "notifications/cancelled");
  expect(cancels.map((message) => (message["params"] as JsonObject)["requestId"])).toEqual([asked]);
});

test("answers that come in reverse go to their own calls (MCP-34)", async () => {
  const { manager, call } = start({ s: hostile() });
  await manager.settled();
  const results = await Promise.all([
    call("later", { text: "first", ms: 200 }),
    call("later", { text: "second", ms: 0 }),
  ]);
  expect(results.map((result) => ran(result).output)).toEqual(["first", "second"]);
});

test("a huge result is clipped (MCP-31)", async () => {
  const { manager, call } = start({ s: hostile() });
  await manager.settled();
  const result = ran(await call("big", { bytes: 50_000_000 }, { output_limit: 10_000 }));
  expect(result.output.length).toBeLessThanOrEqual(10_000);
  expect(result.output).toContain("left out here");
});

test("programs of servers get a path, a home and what their settings name (MCP-24)", async () => {
  process.env["TURNSTONE_TEST_SECRET"] = "not for servers";
  closing.push(() => void delete process.env["TURNSTONE_TEST_SECRET"]);
  const { manager, call } = start({ s: hostile({}, { GIVEN: "yes" }) });
  await manager.settled();
  const seen = JSON.parse(ran(await call("environment")).output) as Record<string, string>;
  expect(Object.keys(seen).toSorted()).toEqual(["GIVEN", "HOME", "PATH"]);
});

test("requests of a server are answered or refused (MCP-27)", async () => {
  const { manager, call } = start({ s: hostile() }, { workspace_root: "/srv/work" });
  await manager.settled();
  expect(ran(await call("ask", { method: "ping" })).output).toBe("{}");
  expect(ran(await call("ask", { method: "roots/list" })).output).toContain("file:///srv/work");
  expect(ran(await call("ask", { method: "tasks/invented" })).output).toContain("-32601");
  for (const method of ["sampling/createMessage", "elicitation/create"]) {
    expect(ran(await call("ask", { method })).output).toMatch(/^\{"code":-3260[23],/);
  }
});

/** Whether it runs; one that nobody has buried yet does not. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !stat.slice(stat.lastIndexOf(")")).startsWith(") Z");
  } catch {
    return false;
  }
}

test("nothing of a server is left after the stop, also what it started (MCP-25, MCP-33)", async () => {
  const servers = startServers(
    { s: hostile(), stuck: hostile({ answer_after_ms: -1 }) },
    { limits: { connect_deadline_ms: 500 } },
  );
  await servers.manager.settled();
  await servers.until(() => servers.state("s")?.state === "ready");
  const child = Number(ran(await servers.call("mcp__s__fork")).output);
  expect(isAlive(child)).toBe(true);
  const from = performance.now();
  await servers.close();
  expect(performance.now() - from).toBeLessThan(10_000);
  await expect.poll(() => isAlive(child)).toBe(false);
});

test("prompts and resources that a server promises and does not have leave its tools alone (MCP-28)", async () => {
  const { manager, call } = start({ s: hostile({ capabilities: { prompts: {}, resources: {} } }) });
  await manager.settled();
  expect(await manager.prompts(null)).toEqual([]);
  expect(ran(await call("echo", { text: "fine" })).output).toBe("fine");
});

test("arguments are shown whole, and no value passes for another argument", async () => {
  const { manager, find, bench } = start({ s: hostile() });
  await manager.settled();
  const args = { text: "one\nadmin: true", note: "x\u202ey", list: [1], long: "z".repeat(5000) };
  expect(await find("echo").tool.prepare(args, bench.context)).toMatchObject({
    header: "mcp:s/echo",
    preview: `text:\n  one\n  admin: true\nnote: x<U+202E>y\nlist:\n  [\n    1\n  ]\nlong: ${"z".repeat(5000)}`,
    needs_approval: true,
    effect: "side_effect",
  });
});

test("published servers work: everything, filesystem and memory", async () => {
  const place = folder();
  writeFileSync(join(place, "note.txt"), "kept in a file");
  const { manager, call, state } = start({
    everything: published("server-everything", ["stdio"]),
    files: published("server-filesystem", [place]),
    memory: published("server-memory", [], { MEMORY_FILE_PATH: join(place, "memory.json") }),
  });
  await manager.settled();
  expect(manager.status().map(({ problem }) => problem)).toEqual([null, null, null]);
  expect(ran(await call("mcp__everything__get-sum", { a: 2, b: 40 })).output).toContain("42");
  expect(ran(await call("mcp__everything__get-tiny-image")).images).toHaveLength(1);
  expect(ran(await call("mcp__everything__get-structured-content", { location: "Chicago" })).output).toContain(
    "temperature",
  );
  expect(ran(await call("mcp__files__read_text_file", { path: join(place, "note.txt") })).output).toContain(
    "kept in a file",
  );
  const entities = [{ name: "Ana", entityType: "person", observations: ["likes tea"] }];
  await call("mcp__memory__create_entities", { entities });
  expect(ran(await call("mcp__memory__search_nodes", { query: "tea" })).output).toContain("Ana");
  expect(state("everything")?.left_out).toEqual([expect.stringContaining("runs as a task only")]);
  expect(ran(await call("mcp__everything__read_resource")).output).toContain("demo://resource/");
  const uri = "demo://resource/static/document/architecture.md";
  expect(ran(await call("mcp__everything__read_resource", { uri })).output).toContain(`[resource ${uri}]\n`);
  expect(await manager.prompt("everything", "args-prompt", { city: "Bern" }, null)).toMatchObject({
    ok: true,
    text: expect.stringContaining("Bern"),
  });
});
