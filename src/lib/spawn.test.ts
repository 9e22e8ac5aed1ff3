import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createSpawner, type SpawnRequest, type SpawnResult, type Spawner } from "./spawn.ts";

const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
const spawner = createSpawner({ env });
afterAll(() => spawner.close());

async function bash(
  script: string,
  about: Partial<SpawnRequest> = {},
  by: Spawner = spawner,
): Promise<{ result: SpawnResult; output: string }> {
  const pieces: Uint8Array[] = [];
  const result = await by.run({
    file: "bash",
    args: ["-c", script],
    cwd: tmpdir(),
    env,
    timeout_ms: 20_000,
    signal: new AbortController().signal,
    onOutput: (bytes) => pieces.push(bytes.slice()),
    ...about,
  });
  return { result, output: Buffer.concat(pieces).toString() };
}

/** Resolves when no process has this text in its command line. */
async function gone(text: string): Promise<void> {
  await expect
    .poll(async () => (await bash(`pgrep -f "[${text[0]}]${text.slice(1)}" || true`)).output, { timeout: 5000 })
    .toBe("");
}

test("standard output and error come in the order they were written", async () => {
  const { result, output } = await bash(
    "for i in 1 2 3; do echo out $i; echo err $i >&2; echo dev $i > /dev/stderr; done; exit 3",
  );
  expect(result).toEqual({ status: "exited", exit_code: 3, signal_name: null });
  expect(output).toBe([1, 2, 3].map((i) => `out ${i}\nerr ${i}\ndev ${i}\n`).join(""));
});

test("a signal that ended the program is told (BASH-13)", async () => {
  expect((await bash("kill -9 $$")).result).toEqual({ status: "exited", exit_code: null, signal_name: "SIGKILL" });
});

test("input is given and ended, also a long one", async () => {
  const input = "línea\n".repeat(100_000);
  expect((await bash("cat | md5sum", { input })).output).toBe(
    (await bash("yes línea | head -n 100000 | md5sum")).output,
  );
  expect((await bash("cat; echo end")).output).toBe("end\n");
});

test("a program can be talked to", async () => {
  let output = "";
  const { result } = await bash("while read -r line; do echo got $line; done", {
    onStarted: (stdin) => {
      stdin.write("one\n");
      stdin.write("two\n");
      stdin.end();
    },
    onOutput: (bytes) => (output += Buffer.from(bytes).toString()),
  });
  expect(result.status).toBe("exited");
  expect(output).toBe("got one\ngot two\n");
});

test("a background child that holds a pipe does not hold the call (BASH-02, BASH-24)", async () => {
  const { output } = await bash("sleep 3001 2>/dev/null & sleep 3001 </dev/null >/dev/null & echo hi");
  expect(output).toBe("hi\n");
  await gone("sleep 3001");
});

test("a child that leaves the group does not hold the call (BASH-06)", async () => {
  const { output } = await bash("setsid sleep 3002 & echo done");
  expect(output).toBe("done\n");
  await bash("pkill -f '[s]leep 3002'");
});

test("a timeout ends the whole group and keeps what was printed (BASH-04, BASH-22)", async () => {
  const { result, output } = await bash('bash -c "sleep 3003 & sleep 3003" & echo started; wait', { timeout_ms: 300 });
  expect(result).toEqual({ status: "timed_out" });
  expect(output).toBe("started\n");
  await gone("sleep 3003");
});

test("what ignores SIGTERM is killed (BASH-05)", async () => {
  const { result } = await bash('trap "" TERM; sleep 3004', { timeout_ms: 200 });
  expect(result).toEqual({ status: "timed_out" });
  await gone("sleep 3004");
});

test("what obeys SIGTERM has time to clean up (BASH-05)", async () => {
  const { output } = await bash('trap "echo cleaned; exit" TERM; echo ready; sleep 3005 & wait', { timeout_ms: 300 });
  expect(output).toContain("cleaned");
});

test("an abort ends it (BASH-23)", async () => {
  const abort = new AbortController();
  const { result } = await bash("echo here; sleep 3006", { signal: abort.signal, onOutput: () => abort.abort() });
  expect(result).toEqual({ status: "aborted" });
  expect((await bash("true", { signal: abort.signal })).result).toEqual({ status: "aborted" });
  await gone("sleep 3006");
});

test("a program that cannot start is a value (BASH-25)", async () => {
  expect((await bash("", { file: "no-such-program" })).result).toEqual({
    status: "not_started",
    error: "The program no-such-program was not found.",
  });
  expect((await bash("", { cwd: "/no/such/folder" })).result).toMatchObject({
    error: "The working folder /no/such/folder does not exist.",
  });
  expect((await bash("", { args: ["-c", "x".repeat(300_000)] })).result).toMatchObject({ status: "not_started" });
  expect((await bash("echo on")).output).toBe("on\n");
});

test("a flood comes through whole, with bounded memory here and in the helper (BASH-09, BASH-10)", async () => {
  let bytes = 0;
  const before = process.memoryUsage().rss;
  const { result } = await bash("yes | head -c 100000000; head -c 5000000 /dev/zero >&2", {
    onOutput: (piece) => (bytes += piece.length),
  });
  expect(result).toMatchObject({ exit_code: 0 });
  expect(bytes).toBe(105_000_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
});

test("a helper that dies takes its programs along, and the next call starts another", async () => {
  const own = createSpawner({ env });
  onTestFinished(() => own.close());
  const ended = bash("sleep 0.1; kill -9 $PPID; sleep 3007", {}, own);
  expect((await ended).result).toEqual({ status: "exited", exit_code: null, signal_name: "SIGKILL" });
  await gone("sleep 3007");
  expect((await bash("echo again", {}, own)).output).toBe("again\n");
});

test("the parent of a program holds no secret (BASH-17)", async () => {
  process.env["TURNSTONE_TEST_SECRET"] = "do-not-tell";
  onTestFinished(() => void delete process.env["TURNSTONE_TEST_SECRET"]);
  const own = createSpawner({ env });
  onTestFinished(() => own.close());
  const { output } = await bash('tr "\\0" "\\n" </proc/$PPID/environ', {}, own);
  expect(output).toContain("PATH=");
  expect(output).not.toContain("do-not-tell");
});

test("a spare runs one call only, in the folder that is there now (BASH-21)", async () => {
  const own = createSpawner({ env });
  onTestFinished(() => own.close());
  const cwd = mkdtempSync(join(tmpdir(), "spare-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const launcher = 'IFS= read -r -d "" script; eval "$script"';
  const spare = (script: string): Promise<{ result: SpawnResult; output: string }> =>
    bash(launcher, { cwd, spare: true, input: script }, own);
  const pids = new Set<string>();
  for (let count = 0; count < 5; count += 1) pids.add((await spare("echo $$; LEFT=1; cd /")).output);
  expect(pids.size).toBe(5);
  expect((await spare("pwd; echo [$LEFT]")).output).toBe(`${cwd}\n[]\n`);
  rmSync(cwd, { recursive: true });
  expect((await spare("pwd")).result).toMatchObject({ status: "not_started" });
  expect(existsSync(cwd)).toBe(false);
});
