import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageRoot } from "../package.ts";
import { freePort } from "../supervisor/port.ts";
import { runTurnstone, startTurnstone } from "../testing/run_turnstone.ts";

test("a port that is taken is one sentence and nothing is left running (REQ-SERVER-031)", async () => {
  const home = mkdtempSync(join(tmpdir(), "turnstone-start-"));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  try {
    const { code, stdout, stderr } = await runTurnstone(["start", "--port", String(port)], { env: { HOME: home } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      `The server cannot listen on 127.0.0.1 port ${port}: another program uses that port. Choose another with --port or TURNSTONE_PORT.\n`,
    );
  } finally {
    other.close();
    rmSync(home, { recursive: true });
  }
});

test.each([["server"], ["admin", "list-users"]])(
  "a database that this version cannot use is refused in a sentence, and nothing is kept elsewhere: %s",
  async (...args) => {
    const home = mkdtempSync(join(tmpdir(), "turnstone-start-"));
    try {
      const env = { HOME: home, TURNSTONE_DB_URL: "postgres://localhost/turnstone", TURNSTONE_PORT: "0" };
      const { code, stderr } = await runTurnstone(args, { env });
      expect(code).toBe(1);
      expect(stderr).toMatch(/SQLite only and cannot use PostgreSQL; remove TURNSTONE_DB_URL/);
    } finally {
      rmSync(home, { recursive: true });
    }
  },
);

// REQ-SERVER-030
test("everything starts, a person talks and approves in a terminal, and a signal ends it cleanly", async () => {
  const home = mkdtempSync(join(tmpdir(), "turnstone-start-"));
  const ports = await Promise.all([1, 2, 3].map(() => freePort("127.0.0.1")));
  const [server = 0, gateway = 0, practice = 0] = ports;
  const env = {
    HOME: home,
    TURNSTONE_PORT: String(server),
    TURNSTONE_CHANNEL_PORT: String(gateway),
    TURNSTONE_PRACTICE_PORT: String(practice),
    // Whatever model runs on this machine is not to be asked.
    TURNSTONE_PROVIDER: "demo",
  };
  const started = startTurnstone(["start"], { env });
  try {
    await started.printed(/Ctrl\+C stops everything/);
    expect(started.stdout()).toContain(`Practice Discord: http://127.0.0.1:${practice}`);
    expect((await fetch(`http://127.0.0.1:${gateway}/health`)).status).toBe(200);
    const listed = await runTurnstone(["admin", "list-users", "--json"], { env });
    expect(JSON.parse(listed.stdout)).toMatchObject({
      users: [
        { username: "ada", scopes: "read,write,approve" },
        { username: "ben", scopes: "read,write" },
      ],
    });
    const chat = await runTurnstone(["chat"], { env, input: "run `echo once > made.txt`\ny\nread made.txt\n/quit\n" });
    expect(chat.stderr).toBe("");
    expect(chat.stdout).toMatch(
      /\? bash[\s\S]*echo once > made\.txt[\s\S]*approved by Ada[\s\S]*… read_file[\s\S]*once/,
    );
  } finally {
    const before = started.stdout();
    const code = await started.interrupt();
    rmSync(home, { recursive: true });
    expect(code).toBe(0);
    expect(before.match(/http:\/\/127\.0\.0\.1:\d+/g)).toEqual([
      `http://127.0.0.1:${server}`,
      `http://127.0.0.1:${practice}`,
    ]);
    // Nobody saw another one vanish.
    expect(started.stdout().slice(before.length)).not.toMatch(/warn|error|reconnecting|started again/);
  }
}, 120_000);

test("npm start ends everything when npm is asked to end", async () => {
  const home = mkdtempSync(join(tmpdir(), "turnstone-start-"));
  const [server = 0, gateway = 0, practice = 0] = await Promise.all([1, 2, 3].map(() => freePort("127.0.0.1")));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TURNSTONE_PORT: String(server),
    TURNSTONE_CHANNEL_PORT: String(gateway),
    TURNSTONE_PRACTICE_PORT: String(practice),
    TURNSTONE_PROVIDER: "demo",
  };
  const npm = spawn("npm", ["start"], { cwd: packageRoot(), env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    let told = "";
    for await (const piece of npm.stdout) {
      told += String(piece);
      if (told.includes("Ctrl+C stops everything")) break;
    }
    npm.kill("SIGTERM");
    for (const port of [server, gateway, practice]) {
      await expect.poll(() => isFree(port), { timeout: 20_000 }).toBe(true);
    }
  } finally {
    npm.kill("SIGKILL");
    rmSync(home, { recursive: true });
  }
}, 60_000);

/** Whether somebody could listen there. */
function isFree(port: number): Promise<boolean> {
  const trial = createServer();
  return new Promise((resolve) => {
    trial.once("error", () => resolve(false));
    trial.listen(port, "127.0.0.1", () => trial.close(() => resolve(true)));
  });
}

test("a gateway alone asks for a token", async () => {
  const { code, stderr } = await runTurnstone(["gateway"]);
  expect(code).toBe(1);
  expect(stderr).toContain("The gateway needs a bot token");
});
