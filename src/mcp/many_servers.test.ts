import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { hostile, program, startServers, type StartedServers } from "../../test/support/mcp/servers.ts";
import type { ServerSettings } from "./settings.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function start(settings: Record<string, ServerSettings>): StartedServers {
  const servers = startServers(settings, { limits: { connect_deadline_ms: 20_000 } });
  closing.push(() => servers.close());
  return servers;
}

function named(prefix: string, count: number, settings: ServerSettings): Record<string, ServerSettings> {
  return Object.fromEntries(Array.from({ length: count }, (_value, index) => [`${prefix}${index}`, settings]));
}

/** Milliseconds until so many are ready. */
async function timeUntilReady(servers: StartedServers, count: number): Promise<number> {
  const from = performance.now();
  await servers.until(() => servers.manager.status().filter(({ state }) => state === "ready").length === count);
  return performance.now() - from;
}

test("of twenty servers three hang and two crash, and the others are ready as if they were alone (MCP-02, MCP-03)", async () => {
  const fine = named("fine", 15, hostile());
  const alone = start(fine);
  const least = await timeUntilReady(alone, 15);
  await alone.close();
  const all = start({
    ...named("hangs", 3, hostile({ answer_after_ms: -1 })),
    ...named("crashes", 2, hostile({ exit_code: 7 })),
    ...fine,
  });
  const time = await timeUntilReady(all, 15);
  // Five more programs have to start beside them.
  expect(time / least).toBeLessThan(2.5);
  const states = all.manager.status().map(({ server, state }) => `${server}: ${state}`);
  for (const server of ["hangs0", "hangs1", "hangs2"]) expect(states).toContain(`${server}: connecting`);
  await all.until(
    () => all.state("crashes0")?.state === "unavailable" && all.state("crashes1")?.state === "unavailable",
  );
}, 60_000);

test("a server in another language works", async () => {
  const path = fileURLToPath(new URL("../../test/support/mcp/python_server.py", import.meta.url));
  const { manager, call } = start({ adder: program("python3", [path]) });
  await manager.settled();
  const result = await call("add", { numbers: [1, 2.5] });
  expect(result).toMatchObject({ prepared: true, is_error: false, output: expect.stringContaining("3.5 ∑") });
});
