import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createServiceToken } from "../../gateway/server_token.ts";
import { runTurnstone } from "../../src/cli/testing/run_turnstone.ts";
import { bearer, createRig, SECRET } from "../../src/http/testing/rig.ts";
import { openStore } from "../../src/store/index.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "turnstone-services-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each(["server", "gateway"])("a %s does not start with a secret that is too short (AUTH-06)", async (program) => {
  const weak = "x".repeat(31);
  const env = {
    TURNSTONE_DATA_DIR: folder,
    TURNSTONE_JWT_SECRET: weak,
    TURNSTONE_DISCORD_TOKEN: "token",
    TURNSTONE_PORT: "0",
  };
  const { code, stdout, stderr } = await runTurnstone([program], { env });
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(/32 bytes/);
  expect(stdout + stderr).not.toContain(weak);
});

test("a gateway's credential is made anew before it ends, and the old one ends (AUTH-13)", async () => {
  const rig = await createRig();
  const mint = createServiceToken(new TextDecoder().decode(SECRET), rig.clock);
  const ask = async (token: string): Promise<number> =>
    (await rig.app.inject({ url: "/v1/api/services?service_type=channel", headers: bearer(token) })).statusCode;
  const first = await mint();
  expect([await mint(), await ask(first)]).toEqual([first, 200]);
  rig.clock.advance(250_000);
  const second = await mint();
  expect(second).not.toBe(first);
  rig.clock.advance(100_000);
  expect([await ask(first), await ask(second)]).toEqual([401, 200]);
});

test("a stream is neither compressed nor held back, and is never silent for long (SSE-06)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const ws_id = await rig.workstream(anna);
  const headers = { ...bearer(anna.token), "accept-encoding": "gzip, br" };
  const url = `${await rig.listen()}/v1/api/workstreams/${ws_id}/events`;
  const beats = await new Promise<number[]>((resolve) => {
    const times: number[] = [];
    const asked = get(url, { headers }, (answer) => {
      expect(answer.headers).toMatchObject({ "x-accel-buffering": "no", "cache-control": "no-cache, no-transform" });
      expect(answer.headers).not.toHaveProperty("content-encoding");
      answer.setEncoding("utf8").on("data", (text: string) => {
        if (text.includes(": keep-alive")) times.push(performance.now());
        if (times.length === 2) resolve((asked.destroy(), times));
      });
    });
  });
  expect((beats[1] ?? 0) - (beats[0] ?? 0)).toBeLessThan(10_000);
});

test("health answers while passwords are checked and a large store is searched (SSE-13)", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna", "read,write", "a long enough password");
  for (let index = 0; index < 200; index += 1) {
    const value = `${index} ${"many words in one memory ".repeat(100)}`;
    await rig.store.memories.save(
      { scope: "user", owner: anna.user_id, key: `key ${index}`, value },
      new Date().toISOString(),
    );
  }
  await rig.listen();
  const origin = rig.app.listeningOrigin;
  const login = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "anna", password: "wrong" }),
  };
  const busy = Promise.all([
    ...Array.from({ length: 4 }, () => fetch(`${origin}/v1/api/auth/login`, login)),
    ...Array.from({ length: 20 }, () =>
      fetch(`${origin}/v1/api/memories?query=many+words&limit=50`, { headers: bearer(anna.token) }),
    ),
  ]);
  const times: number[] = [];
  for (let count = 0; count < 10; count += 1) {
    const asked = performance.now();
    expect((await fetch(`${origin}/health`)).status).toBe(200);
    times.push(performance.now() - asked);
  }
  await busy;
  // One may meet a pause of the whole machine; a blocked loop would hold up most.
  expect(times.toSorted((one, other) => one - other).at(-3)).toBeLessThan(500);
});

test("a place that cannot hold the store is refused in a sentence (STOR-18)", async () => {
  writeFileSync(join(folder, "file"), "");
  await expect(openStore({ path: join(folder, "file", "turnstone.db") })).rejects.toThrow(/cannot be written to/);
});
