import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { Preparation, Tool } from "../contracts/tool.ts";
import { scrubEnvironment } from "../lib/environment.ts";
import { createSpawner } from "../lib/spawn.ts";
import { openWorkspace } from "../lib/workspace.ts";
import type { JsonObject } from "../protocol/json.ts";
import { createBash } from "./bash.ts";
import { createSandbox, type Isolation } from "./sandbox.ts";

const env = scrubEnvironment({
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/home/nobody-here",
  LANG: "C.UTF-8",
  LESS_SECRET_TOKEN: "do-not-tell",
});
const spawner = createSpawner({ env });
const data_dir = join(tmpdir(), `turnstone-data-${process.pid}`);
let isolation: Isolation;
beforeAll(async () => {
  mkdirSync(data_dir, { mode: 0o700 });
  isolation = await createSandbox(
    { mode: "auto", network: true, hidden_paths: [data_dir], home: "/root", env },
    spawner,
  );
});
afterAll(async () => {
  await spawner.close();
  rmSync(data_dir, { recursive: true, force: true });
});

let bench: ToolBench;
beforeEach(() => {
  bench = toolBench({ spawner });
});
afterEach(() => bench.remove());

const bare = (): Tool => createBash({ env, isolation: { sandbox: null, required: false, reason: "off" } });
const boxed = (): Tool => createBash({ env, isolation });

async function output(tool: Tool, args: JsonObject): Promise<string> {
  const result = await bench.call(tool, args);
  if (!result.prepared) throw new Error(result.error);
  return result.output;
}

async function prepared(command: string): Promise<Preparation> {
  return bare().prepare({ command }, bench.context);
}

for (const [where, tool] of [
  ["bare", bare],
  ["in the sandbox", boxed],
] as const) {
  test(`output comes in order with the exit code on a last line, ${where} (BASH-13)`, async () => {
    expect(await output(tool(), { command: "echo a; echo b >&2; echo c > /dev/stderr" })).toBe("a\nb\nc\n");
    expect(await output(tool(), { command: "exit 3" })).toBe("(no output)\n[exit code: 3]");
    expect(await output(tool(), { command: "true" })).toBe("(no output)");
    expect(await output(tool(), { command: "kill -9 $$" })).toMatch(/SIGKILL/);
  });

  test(`a failure inside a pipeline shows, a reader that had enough does not, ${where} (BASH-14)`, async () => {
    expect(await output(tool(), { command: "false | cat" })).toBe("(no output)\n[exit code: 1]");
    expect(await output(tool(), { command: "yes | head -n 1" })).toBe("y\n");
    expect(await output(tool(), { command: "false | true | cat; echo fine" })).toBe("fine\n");
    expect(await output(tool(), { command: "set -e; echo a | grep -q a; echo $#" })).toBe("0\n");
  });

  test(`each call begins in the workspace, ${where} (BASH-21)`, async () => {
    await output(tool(), { command: "cd /tmp; export LEFT=1" });
    expect(await output(tool(), { command: "pwd; echo [$LEFT]" })).toBe(`${bench.root}\n[]\n`);
    rmSync(bench.root, { recursive: true });
    expect(await output(tool(), { command: "ls" })).toBe(`The working folder ${bench.root} does not exist.`);
  });

  test(`a script of 200 KiB runs, ${where} (BASH-18)`, async () => {
    const body = "x".repeat(99).concat("\n").repeat(2048);
    expect(await output(tool(), { command: `cat > big <<'EOF'\n${body}EOF\nwc -c < big` })).toBe("204800\n");
    expect(await output(tool(), { command: `cat <<'EOF' | wc -c\n${body.slice(0, 25_000)}EOF` })).toBe("25000\n");
  });

  test(`there is no input to wait for, and no pager, ${where} (BASH-27)`, async () => {
    expect(await output(tool(), { command: "cat; read x; echo $?; echo $PAGER $TERM" })).toBe("1\ncat dumb\n");
  });

  // REQ-TOOL-003
  test(`a timeout keeps what was printed and says that the outcome is unknown, ${where} (BASH-22)`, async () => {
    const result = await bench.call(tool(), {
      command: "trap 'echo cleaned; exit' TERM; echo started; sleep 60 & wait",
      timeout: 1,
    });
    expect(result).toMatchObject({ is_error: true, effect: "unknown" });
    expect(result).toHaveProperty(
      "output",
      expect.stringMatching(/^started\ncleaned\n\[Timed out after 1 s .*unknown\.\]$/),
    );
  });

  test(`a cancelled call is no error, ${where} (BASH-23)`, async () => {
    const abort = new AbortController();
    bench.with({ signal: abort.signal, emit: () => abort.abort() });
    const result = await bench.call(tool(), { command: "echo here; sleep 60" });
    expect(result).toMatchObject({
      is_error: false,
      effect: "unknown",
      output: expect.stringMatching(/^here\n\[Cancelled by the user/),
    });
  });

  // REQ-TOOL-004
  test(`no secret is in the environment, of the command or its parent, ${where} (BASH-16, BASH-17)`, async () => {
    const text = await output(tool(), {
      command: 'env; cat /proc/*/environ /proc/$PPID/environ 2>/dev/null | tr "\\0" "\\n" | grep -c do-not-tell',
    });
    expect(text).toContain("LANG=C.UTF-8");
    expect(text).not.toContain("LESS_SECRET_TOKEN");
  });

  // REQ-TOOL-002
  test(`nothing runs on after the call, ${where} (BASH-02, BASH-06)`, async () => {
    expect(await output(tool(), { command: "(sleep 1; echo late > late) >/dev/null 2>&1 & sleep 60 & echo hi" })).toBe(
      "hi\n",
    );
    expect(await output(tool(), { command: "sleep 1.2; ls" })).toBe("(no output)");
  });
}

test("control codes and broken bytes are gone (BASH-11, BASH-12)", async () => {
  expect(await output(bare(), { command: 'printf "\\xff\\x00ok\\n\\r10%%\\r20%%\\e[31mX\\e[0m\\n"' })).toBe(
    "\ufffdok\n20%X\n",
  );
});

test("a flood is clipped for the model and for people (BASH-09)", async () => {
  bench.with({ output_limit: 10_000 });
  const text = await output(bare(), { command: "yes | head -c 30000000; echo end" });
  expect(text.length).toBeLessThanOrEqual(10_000);
  expect(text).toMatch(/^y\n.*characters left out here.*y\nend\n$/s);
  expect(bench.chunks.join("").length).toBeLessThan(300_000);
});

test("no script is ever in a file (BASH-26)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-temp-"));
  const own = createSpawner({ env: { ...env, TMPDIR: folder } });
  onTestFinished(async () => {
    await own.close();
    rmSync(folder, { recursive: true, force: true });
  });
  bench.with({ spawner: own });
  const text = await output(
    createBash({ env: { ...env, TMPDIR: folder }, isolation: { sandbox: null, required: false, reason: "off" } }),
    {
      command: `find ${folder} -type f; sleep 60`,
      timeout: 1,
    },
  );
  expect(text).toMatch(/^\[Timed out/);
  expect(readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())).toEqual([]);
});

test("a missing shell is a result (BASH-25)", async () => {
  const empty = createBash({ env: { PATH: bench.root }, isolation: { sandbox: null, required: false, reason: "off" } });
  expect(await bench.call(empty, { command: "ls" })).toMatchObject({ is_error: true, effect: "none" });
});

// REQ-TOOL-001
test("what is shown is the whole script as it runs, with unseen characters marked (APPR-16, BASH-20)", async () => {
  expect(await prepared("echo one\nrm -rf x \u202e y")).toMatchObject({
    header: "bash: echo one … (1 more line)",
    preview: "echo one\nrm -rf x <U+202E> y",
    destructive: true,
    needs_approval: true,
    notes: ["This runs without a sandbox."],
  });
  expect(await output(bare(), { command: 'printf %s "a – b “c”"' })).toBe("a – b “c”");
});

test("what is never run is refused before anyone is asked (BASH-19, REQ-TOOL-005)", async () => {
  expect(await prepared("rm -rf /")).toMatchObject({ ok: false, error: expect.stringContaining("whole file system") });
  expect(await prepared("  ")).toMatchObject({ ok: false });
  expect(await prepared("a\0b")).toMatchObject({ ok: false });
  expect(await prepared("git log --grep=reboot")).toMatchObject({ ok: true });
});

test("without the sandbox that is required nothing runs (REQ-TOOL-007)", async () => {
  const tool = createBash({ env, isolation: { sandbox: null, required: true, reason: "bubblewrap is missing." } });
  expect(await tool.prepare({ command: "ls" }, bench.context)).toMatchObject({
    ok: false,
    error: expect.stringContaining("bubblewrap is missing"),
  });
});

// REQ-TOOL-006
test("inside, our data, the home and the system's secrets are absent and only the workspace is written", async () => {
  expect(isolation.reason).toBeNull();
  writeFileSync(join(data_dir, "jwt_secret"), "do-not-tell");
  mkdirSync(join(data_dir, "workspaces/one"), { recursive: true });
  bench.with({ workspace: openWorkspace(join(data_dir, "workspaces/one")), sandbox: isolation.sandbox });
  const script = [
    `cat ${data_dir}/jwt_secret; ls -A ${data_dir} ${data_dir}/workspaces /root /home /tmp`,
    "cat /etc/shadow | wc -c; touch /etc/x /usr/x; ls /proc | grep -c '^[0-9]'; echo hello > file",
    "mount -t proc proc /mnt; unshare -m true; cat /proc/1/root/etc/shadow | wc -c; umount /root",
    // A name space of its own gives power over nothing that was mounted before.
    `unshare -Urm sh -c 'umount -l ${data_dir}; umount -l /root; mount -o remount,rw /; cat ${data_dir}/jwt_secret'`,
  ].join("\n");
  const text = await output(boxed(), { command: script });
  expect(text).not.toContain("do-not-tell");
  expect(text).toContain("jwt_secret: No such file");
  expect(text).toContain(`${data_dir}/workspaces:\none`);
  expect(text).toMatch(/touch: cannot touch '\/etc\/x'.*Read-only/);
  expect(text).toMatch(/touch: cannot touch '\/usr\/x'.*Read-only/);
  expect(existsSync(join(data_dir, "workspaces/one/file"))).toBe(true);
});

test("a workspace that holds the data folder does not show it", async () => {
  chmodSync(data_dir, 0o700);
  writeFileSync(join(data_dir, "jwt_secret"), "do-not-tell");
  bench.with({ workspace: openWorkspace(tmpdir()) });
  expect(await output(boxed(), { command: `ls ${data_dir}; ls | grep -c .` })).not.toContain("jwt_secret");
});
