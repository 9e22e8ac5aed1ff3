import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Terminal } from "../terminal.ts";
import type { Member } from "./keep_running.ts";
import { keepRunning } from "./keep_running.ts";

let folder = "";
let said: string[] = [];
const terminal: Terminal = {
  print: (line) => void said.push(line),
  warn: (line) => void said.push(line),
  fail: (line) => void said.push(line),
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "turnstone-supervisor-"));
  said = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A small program that notes its process id at each start, says that it is ready, and then does as it is told. */
function member(then: string): Member {
  const file = join(folder, "member.cjs");
  const note = `require("fs").appendFileSync(${JSON.stringify(join(folder, "starts"))}, process.pid + "\\n");`;
  writeFileSync(file, `${note}\n${then}`);
  return { name: "part", args: [file], env: { PATH: process.env["PATH"] ?? "" }, ready_url: null };
}

function starts(): number[] {
  return readFileSync(join(folder, "starts"), "utf8").trim().split("\n").map(Number);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const READY = 'process.send({ type: "ready", people: [{ id: "1", username: "ada" }] }); setInterval(() => {}, 1000);';

test("a part that is killed is started again, and a stop ends it for good (REQ-SERVER-032)", async () => {
  const stop = new AbortController();
  const running = await keepRunning(member(READY), stop.signal, terminal);
  expect(running?.message.people).toEqual([{ id: "1", username: "ada" }]);
  process.kill(starts()[0] ?? 0, "SIGKILL");
  await vi.waitFor(() => expect(starts()).toHaveLength(2), { timeout: 10_000 });
  expect(said).toEqual(["The part ended (signal SIGKILL); it is started again in 1 s."]);
  await running?.stop();
  expect(starts().map(isAlive)).toEqual([false, false]);
});

test("a part whose first start fails is not tried again", async () => {
  const running = await keepRunning(member("process.exit(3);"), new AbortController().signal, terminal);
  expect(running).toBeNull();
  expect(starts()).toHaveLength(1);
});

test("a stop while a part is still starting ends it", async () => {
  const stop = new AbortController();
  const starting = keepRunning(member("setInterval(() => {}, 1000);"), stop.signal, terminal);
  await vi.waitFor(() => expect(starts()).toHaveLength(1), { timeout: 10_000 });
  stop.abort();
  expect(await starting).toBeNull();
  expect(starts().map(isAlive)).toEqual([false]);
});
