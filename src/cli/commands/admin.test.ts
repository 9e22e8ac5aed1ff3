import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "../../store/index.ts";
import { runTurnstone } from "../testing/run_turnstone.ts";
import type { RunResult } from "../testing/run_turnstone.ts";

let home = "";
let data = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "turnstone-admin-"));
  data = join(home, "data");
});
afterEach(() => rmSync(home, { recursive: true }));

function admin(args: string[], input?: string): Promise<RunResult> {
  const env = { TURNSTONE_DATA_DIR: data, HOME: home };
  return runTurnstone(["admin", ...args], input === undefined ? { env } : { env, input });
}

/** Runs a subcommand with `--json`; it must print one object and nothing else. */
async function adminJson(...args: string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await admin([...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trim().split("\n")).toHaveLength(1);
  return JSON.parse(stdout) as Record<string, string>;
}

test("people and tokens are made before the first start, listed and taken away (REQ-SERVER-033)", async () => {
  const made = await adminJson("create-user", "--username", "Ada", "--name", "Ada L.", "--token");
  expect(made).toMatchObject({ user_id: expect.stringMatching(/^[0-9a-f]{32}$/), username: "ada" });
  expect(made["token"]).toMatch(/^ts_[0-9a-f]{64}$/);
  expect(statSync(data).mode & 0o777).toBe(0o700);

  const token = await adminJson("create-token", "--user", "ada", "--scopes", "read", "--expires-days", "2");
  expect(token).toEqual({
    token_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    token: expect.stringMatching(/^ts_[0-9a-f]{64}$/),
  });
  expect(await adminJson("list-users")).toMatchObject({ users: [{ username: "ada", scopes: "read,write,approve" }] });

  const id = token["token_id"] ?? "";
  expect(await adminJson("revoke-token", "--token-id", id)).toEqual({ token_id: id, revoked: true });
  const listed = await admin(["list-tokens", "--user", "ada", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({
    tokens: [
      { username: "ada", scopes: "read,write,approve", revoked: null },
      { token_id: id, scopes: "read", revoked: expect.any(String), expires: expect.any(String) },
    ],
  });
  expect(listed.stdout).not.toContain("token_hash");
});

test("what is done on the command line is on record, newest first", async () => {
  const { user_id } = await adminJson("create-user", "--username", "ada", "--token");
  const { token_id = "" } = await adminJson("create-token", "--user", "ada", "--scopes", "read");
  await adminJson("revoke-token", "--token-id", token_id);
  await adminJson("link", "--user", "ada", "--channel", "discord", "--id", "42");
  await adminJson("unlink", "--channel", "discord", "--id", "42");
  const { entries } = (await adminJson("audit")) as unknown as { entries: Record<string, unknown>[] };
  expect(entries.map(({ action, target }) => [action, target])).toEqual([
    ["link.removed", "discord:42"],
    ["link.created", "discord:42"],
    ["token.revoked", token_id],
    ["token.created", token_id],
    ["token.created", expect.any(String)],
    ["user.created", user_id],
  ]);
  expect(entries.every(({ details }) => (details as { by: string }).by === "command line")).toBe(true);
  const shown = await admin(["audit", "--action", "user.created", "--limit", "1"]);
  expect(shown.stdout).toMatch(new RegExp(`^\\S+Z  -  user.created  ${user_id}  \\{.*"username":"ada".*\\}\n$`));
  expect((await admin(["audit", "--limit", "0"])).code).toBe(1);
  expect((await admin(["audit", "--before", "soon"])).code).toBe(1);
});

test("a person of a chat platform is linked once and unlinked", async () => {
  await adminJson("create-user", "--username", "ben", "--scopes", "write");
  const place = ["--channel", "discord", "--id", "42"];
  expect(await adminJson("link", "--user", "ben", ...place)).toMatchObject({
    channel_type: "discord",
    channel_user_id: "42",
    scopes: "read,write",
  });
  const again = await admin(["link", "--user", "ben", ...place, "--json"]);
  expect(again).toMatchObject({
    code: 1,
    stdout: '{"error":"The discord user 42 is linked already; unlink it first."}\n',
  });
  expect(await adminJson("unlink", ...place)).toMatchObject({ unlinked: true });
  expect((await admin(["unlink", ...place])).code).toBe(1);
});

/** A data directory with one person in it, who stays the same for every request that is refused. */
let shared: Promise<string> | null = null;

function folderWithAda(): Promise<string> {
  shared ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "turnstone-admin-shared-"));
    await runTurnstone(["admin", "create-user", "--username", "ada", "--scopes", "write", "--data-dir", folder]);
    return folder;
  })();
  return shared;
}

afterAll(async () => {
  if (shared !== null) rmSync(await shared, { recursive: true });
});

test.each([
  [["create-user", "--username", "a b"], '"a b" cannot be a user name'],
  [
    ["create-user", "--username", "a", "--scopes", "all"],
    '"all" is not a list of scopes; allowed are read, write and approve',
  ],
  [["create-user", "--username", "ada"], 'There is a user "ada" already'],
  [["create-user", "--username", "ADA"], 'There is a user "ada" already'],
  [["create-token", "--user", "eve"], 'There is no user "eve"'],
  [
    ["create-token", "--user", "ada", "--scopes", "approve"],
    "This user has only read,write; a token cannot have more.",
  ],
  [["create-token", "--user", "ada", "--expires-days", "0"], "--expires-days must be a whole number from 1 to 36500"],
  [["revoke-token", "--token-id", "x"], 'No token that still works has the id "x"'],
  [["link", "--user", "ada", "--channel", "irc", "--id", "1"], '"irc" is not a chat platform; allowed is discord.'],
  [["link", "--user", "ada", "--channel", "discord", "--id", "ada"], '"ada" is not the id of a discord user'],
  [["backup", "/nonexistent/x.db"], "There is no folder /nonexistent"],
  [["restore", "/nonexistent/x.db"], "There is no file /nonexistent/x.db"],
  [["create-user"], "error: required option '--username <name>' not specified"],
  [["create-usr"], "unknown command 'create-usr'"],
])("what cannot be done is said in a sentence, and the exit code tells (AUTH-14): %j", async (args, sentence) => {
  const { code, stdout, stderr } = await admin([...args, "--data-dir", await folderWithAda()]);
  expect(stderr).toContain(sentence);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
});

test("a password comes through standard input, never as an argument (SECR-07)", async () => {
  const short = await admin(["create-user", "--username", "ada", "--password-stdin"], "short\n");
  expect(short.stderr).toContain("A password must have from 8 to 1024 characters.");
  const good = await admin(["create-user", "--username", "ada", "--password-stdin"], "correct horse\n");
  expect(good.code).toBe(0);
  const store = await openStore({ path: join(data, "turnstone.db") });
  try {
    const user = await store.users.byUsername("ada");
    expect(user?.password_hash).toBeTypeOf("string");
    expect(user?.password_hash).not.toContain("correct horse");
  } finally {
    await store.close();
  }
});

test("a backup brings back what was there, and a store in use is left alone", async () => {
  await adminJson("create-user", "--username", "ada");
  const file = join(home, "backup.db");
  await adminJson("backup", file);
  await adminJson("create-user", "--username", "ben");
  expect((await admin(["backup", file])).stderr).toContain("never overwrites");

  const store = await openStore({ path: join(data, "turnstone.db") });
  const refused = await admin(["restore", file]);
  await store.close();
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("in use") });

  const { replaced = "" } = await adminJson("restore", file);
  expect(existsSync(replaced)).toBe(true);
  expect(await adminJson("list-users")).toMatchObject({ users: [{ username: "ada" }] });
});

test("a damaged backup is refused and the store stays", async () => {
  await adminJson("create-user", "--username", "ada");
  writeFileSync(join(home, "bad.db"), "not a database at all, not even nearly".repeat(100));
  expect((await admin(["restore", join(home, "bad.db")])).code).toBe(1);
  expect(await adminJson("list-users")).toMatchObject({ users: [{ username: "ada" }] });
});

test("bad settings stop an admin command as well", async () => {
  const { code, stderr } = await admin(["list-users", "--port", "x"]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: '--port must be a whole number from 0 to 65535, not "x".\n',
  });
});
