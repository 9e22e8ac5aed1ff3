import { randomBytes } from "node:crypto";
import { mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Spawner } from "../lib/spawn.ts";

export interface SandboxOptions {
  mode: "auto" | "required" | "off";
  /** Whether commands reach the network. */
  network: boolean;
  /** Folders and files that no command may see: the data folder, the configuration. */
  hidden_paths: readonly string[];
  /** The home folder of the person who runs the server. */
  home: string;
  /** The scrubbed environment for the self-test. */
  env: Readonly<Record<string, string>>;
}

/** A program call, and where it works. */
export interface SandboxedCall {
  file: string;
  args: readonly string[];
  /** Within the workspace. */
  cwd: string;
  /** The one folder that may be written, with all links resolved. */
  workspace: string;
}

/** What to give to the spawner instead. */
export interface WrappedCall {
  file: string;
  args: readonly string[];
  supervised: boolean;
}

export interface Sandbox {
  readonly name: string;
  /** A workspace to write to, the system to read, and the network unless it is switched off. */
  wrap(call: SandboxedCall): WrappedCall;
  /** Nothing but the system's programs and libraries, and the given folders, to read. No network. */
  enclose(call: EnclosedCall): WrappedCall;
}

export interface EnclosedCall {
  file: string;
  args: readonly string[];
  /** Folders to show besides, with all links resolved. */
  readable: readonly string[];
}

/** How commands are kept in. `reason` says why there is no sandbox; without one and `required`, no command may run. */
export interface Isolation {
  sandbox: Sandbox | null;
  required: boolean;
  reason: string | null;
}

/** A healthy self-test takes a few hundredths of a second. */
const SELF_TEST_MS = 10_000;

/**
 * Finds out whether bubblewrap works on this host, by trying from inside to do what it must prevent. Never rejects:
 * where it does not hold what it promises, there is no sandbox, and the reason says what failed and what to do.
 */
export async function createSandbox(options: SandboxOptions, spawner: Spawner): Promise<Isolation> {
  const required = options.mode === "required";
  if (options.mode === "off") {
    return { sandbox: null, required, reason: "The sandbox is switched off in the configuration." };
  }
  const sandbox: Sandbox = { name: "bubblewrap", wrap: (call) => wrap(call, options), enclose };
  const failure = await selfTest(sandbox, options, spawner);
  return failure === null ? { sandbox, required, reason: null } : { sandbox: null, required, reason: failure };
}

function wrap(call: SandboxedCall, options: SandboxOptions): WrappedCall {
  const args = [
    ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"],
    options.network ? [] : ["--unshare-net"],
    ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    mounts(call.workspace, options).flatMap((mount) => mount.args),
    ["--chdir", call.cwd, "--", call.file, ...call.args],
  ].flat();
  return { file: "bwrap", args, supervised: true };
}

/** What programs of the system need to start, whether the folders at the root are links or not. */
const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache"];

/**
 * The program is the first process of its namespace: nothing inside can end it, and when it ends, all inside ends.
 * Where the server runs as root the program may change its user, in order to give up being root, and end what it
 * started.
 */
function enclose(call: EnclosedCall): WrappedCall {
  const is_root = process.getuid?.() === 0;
  const shown = [...SYSTEM_FOLDERS, ...call.readable].flatMap((path) => {
    const target = realPath(path)[0];
    if (target === undefined) return [];
    return target === path ? ["--ro-bind", path, path] : ["--symlink", target, path];
  });
  const kept = is_root ? ["CAP_SETUID", "CAP_SETGID", "CAP_KILL"] : [];
  const args = [
    ["--die-with-parent", "--as-pid-1", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts"],
    ["--cap-drop", "ALL", ...kept.flatMap((name) => ["--cap-add", name])],
    [...shown, "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/"],
    ["--chdir", "/", "--", call.file, ...call.args],
  ].flat();
  return { file: "bwrap", args, supervised: true };
}

interface Mount {
  path: string;
  args: string[];
}

/** Places that hold people's files, leftovers, and the sockets of services that would do anything for us. */
const MASKED_FOLDERS = ["/home", "/root", "/tmp", "/var/tmp", "/run"];
/** Secrets of the system, which root could read also inside. */
const MASKED_FILES = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers"];

/** Each path after the paths that contain it, so that the more special one counts. */
function mounts(workspace: string, { hidden_paths, home }: SandboxOptions): Mount[] {
  const masks = [...new Set([...MASKED_FOLDERS, ...MASKED_FILES, home, ...hidden_paths].flatMap(realPath))];
  const wanted: Mount[] = masks
    .filter((path) => path !== workspace && path !== "/")
    .map((path) => ({ path, args: isFolder(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path] }));
  wanted.push({ path: workspace, args: ["--bind", workspace, workspace] });
  // Names are looked up by a file that often is a link into what is masked.
  const resolver = realPath("/etc/resolv.conf");
  wanted.push(...resolver.map((path) => ({ path, args: ["--ro-bind", path, path] })));
  const sorted = wanted.toSorted((one, other) => depth(one.path) - depth(other.path));
  // What lies in a masked folder is gone with it; only a workspace and the resolver's file come back.
  return sorted.filter((mount, index) => !isMask(mount) || !isGone(mount.path, sorted.slice(0, index)));
}

function isMask(mount: Mount): boolean {
  return mount.args[0] === "--tmpfs" || mount.args[1] === "/dev/null";
}

function isGone(path: string, before: readonly Mount[]): boolean {
  const around = before.filter((mount) => isWithin(path, mount.path)).at(-1);
  return around !== undefined && isMask(around);
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length;
}

function realPath(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Null when everything holds, else what does not. */
async function selfTest(sandbox: Sandbox, options: SandboxOptions, spawner: Spawner): Promise<string | null> {
  const name = `.sandbox-test-${randomBytes(8).toString("hex")}`;
  const places = [options.home, ...options.hidden_paths].flatMap(realPath).filter(isFolder);
  const canaries = places.map((folder) => join(folder, name));
  const workspace = join(places.at(-1) ?? "/tmp", `${name}-workspace`);
  try {
    mkdirSync(workspace, { mode: 0o700 });
    for (const canary of canaries) writeFileSync(canary, "canary", { mode: 0o600 });
    const script = testScript(canaries, workspace);
    const report = await runTest(
      sandbox.wrap({ file: "bash", args: ["-c", script], cwd: workspace, workspace }),
      workspace,
      options,
      spawner,
    );
    return judgeReport(report, options);
  } catch (error) {
    return `The sandbox could not be tested: ${error instanceof Error ? error.message : String(error)}.`;
  } finally {
    for (const path of [...canaries, workspace]) rmSync(path, { recursive: true, force: true });
  }
}

/** Each line that it prints names something that holds. */
function testScript(canaries: readonly string[], workspace: string): string {
  const quoted = canaries.map((path) => `'${path.replaceAll("'", "'\\''")}'`).join(" ");
  return [
    `seen=no; for file in ${quoted}; do [ -e "$file" ] && seen=yes; done; [ $seen = no ] && echo hidden`,
    "set -- /proc/[0-9]*; [ $# -le 3 ] && echo alone",
    "for file in {,/usr,/etc,/var,/opt}/.sandbox-test; do",
    "{ : > $file; } 2>/dev/null && { rm $file; echo system-writable; }; done",
    "status=$(</proc/self/status); bound='NoNewPrivs:[[:space:]]*1'; bare='CapEff:[[:space:]]*0+[[:space:]]'",
    "[[ $status =~ $bound && $status =~ $bare ]] && echo powerless",
    `echo x > '${workspace.replaceAll("'", "'\\''")}/written' && echo workspace`,
    "echo done",
  ].join("\n");
}

interface TestReport {
  lines: Set<string>;
  output: string;
  error: string | null;
}

async function runTest(call: WrappedCall, cwd: string, { env }: SandboxOptions, spawner: Spawner): Promise<TestReport> {
  let output = "";
  const result = await spawner.run({
    ...call,
    cwd,
    env,
    timeout_ms: SELF_TEST_MS,
    signal: new AbortController().signal,
    onOutput: (bytes) => (output = (output + Buffer.from(bytes).toString()).slice(-2000)),
  });
  return { lines: new Set(output.split("\n")), output, error: result.status === "not_started" ? result.error : null };
}

function judgeReport({ lines, output, error }: TestReport, options: SandboxOptions): string | null {
  const advice = "Install bubblewrap (package bubblewrap), or allow unprivileged user namespaces.";
  if (error !== null) return `There is no sandbox: ${error} ${advice}`;
  if (!lines.has("done")) {
    return `The sandbox does not start: ${output.trim().split("\n").at(-1) || "it says nothing"}. ${advice}`;
  }
  const hides = options.hidden_paths.length > 0 ? "our own files" : "the home folder";
  if (!lines.has("hidden")) return `The sandbox does not hide ${hides}; it is not used.`;
  if (!lines.has("alone")) return "The sandbox does not hide other processes; it is not used.";
  if (lines.has("system-writable")) return "The sandbox does not protect the system's files; it is not used.";
  if (!lines.has("powerless")) return "The sandbox does not take away privileges; it is not used.";
  if (!lines.has("workspace")) return "The sandbox does not let commands write to the workspace; it is not used.";
  return null;
}
