import { posix } from "node:path";
import type { ShellCommand, ShellScript } from "../lib/shell_script.ts";
import { parseShell } from "../lib/shell_words.ts";

/** What is to be said of a script before it runs. */
export interface CommandRisk {
  /** Why it is never run; null for nearly all. */
  blocked: string | null;
  /** Whether it may destroy what cannot be brought back. */
  destructive: boolean;
}

/**
 * Judges a bash script by its parsed commands, so that words in quotations, patterns and messages are innocent. This
 * guards against accidents; it is no boundary against someone who wants to hide a command.
 */
export function judgeCommand(script: string): CommandRisk {
  const parsed = parseShell(script);
  const calls = parsed.commands.flatMap((command) => callsOf(command, 0));
  const blocked = calls.map(blockedReason).find((reason) => reason !== null) ?? forkBomb(parsed);
  return { blocked: blocked ?? null, destructive: calls.some(isDestructive) };
}

/** A program call with its wrappers taken off. */
interface Call {
  name: string;
  args: string[];
  command: ShellCommand;
}

/** Programs that run the rest of their arguments, with their options that take a value. */
const WRAPPERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["sudo", new Set(["-u", "-g", "-h", "-p", "-C", "-D", "-U", "--user", "--group"])],
  ["doas", new Set(["-u", "-C"])],
  ["env", new Set(["-u", "-C", "--unset", "--chdir"])],
  ["nice", new Set(["-n"])],
  ["ionice", new Set(["-c", "-n"])],
  ["timeout", new Set(["-k", "-s"])],
  ["xargs", new Set(["-I", "-n", "-P", "-L", "-d", "-a"])],
  ["stdbuf", new Set(["-i", "-o", "-e"])],
  ...["nohup", "setsid", "command", "exec", "builtin", "busybox", "time", "-p"].map((name): [string, Set<string>] => [
    name,
    new Set(),
  ]),
]);
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh"]);
/** A script within a script within … beyond this is not followed. */
const SCRIPT_DEPTH_MAX = 5;

function callsOf(command: ShellCommand, depth: number): Call[] {
  let words = command.words.map((word) => word.text);
  let elevated = false;
  for (let name = baseName(words); WRAPPERS.has(name); name = baseName(words)) {
    elevated ||= name === "sudo" || name === "doas";
    words = unwrap(words, WRAPPERS.get(name) ?? new Set(), name === "timeout");
  }
  const name = baseName(words);
  const args = words.slice(1);
  const own: Call = { name, args, command };
  const calls = elevated ? [own, { name: "sudo", args, command }] : [own];
  const script = SHELLS.has(name) ? scriptArgument(args) : name === "eval" ? args.join(" ") : null;
  if (script === null || depth >= SCRIPT_DEPTH_MAX) return calls;
  return [...calls, ...parseShell(script).commands.flatMap((inner) => callsOf(inner, depth + 1))];
}

function unwrap(words: string[], valued: ReadonlySet<string>, skips_duration: boolean): string[] {
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (valued.has(word)) at += 1;
    else if (!word.startsWith("-") && !/^\w+=/.test(word)) break;
  }
  return words.slice(skips_duration ? at + 1 : at);
}

function scriptArgument(args: string[]): string | null {
  const at = args.findIndex((argument) => /^-[a-z]*c[a-z]*$/.test(argument));
  return at < 0 ? null : (args[at + 1] ?? null);
}

function baseName(words: string[]): string {
  return posix.basename(words[0] ?? "");
}

const SHUTDOWN: ReadonlySet<string> = new Set(["shutdown", "reboot", "halt", "poweroff"]);
const SHUTDOWN_UNITS = /^(?:poweroff|reboot|halt|kexec|soft-reboot|(?:poweroff|reboot|halt)\.target)$/;
/** Whole disks, partitions and what maps them, by Linux' device names. */
const BLOCK_DEVICE = /^\/dev\/(?:sd|hd|vd|xvd|nvme\d|mmcblk|md\d|dm-|loop\d|sr\d|ram\d|zram|nbd|disk\/|mapper\/)/;

function blockedReason({ name, args, command }: Call): string | null {
  if (name === "rm" && isRecursive(args) && operands(args).some(isWholeSystem)) {
    return "it would delete the whole file system";
  }
  if (SHUTDOWN.has(name)) return "it would stop the machine";
  if ((name === "init" || name === "telinit") && /^[06]$/.test(args[0] ?? "")) return "it would stop the machine";
  if (name === "systemctl" && operands(args).some((word) => SHUTDOWN_UNITS.test(word))) {
    return "it would stop the machine";
  }
  if (/^(?:mkfs(?:\..+)?|mke2fs|mkswap|wipefs|blkdiscard|shred)$/.test(name) && args.some(isBlockDevice)) {
    return "it would erase a disk";
  }
  const target = name === "dd" ? args.find((word) => word.startsWith("of="))?.slice(3) : undefined;
  if (target !== undefined && isBlockDevice(target)) return "it would overwrite a disk";
  if (["tee", "cp", "mv"].includes(name) && isBlockDevice(operands(args).at(-1) ?? "")) {
    return "it would overwrite a disk";
  }
  if (command.redirections.some(({ operator, target: word }) => operator.includes(">") && isBlockDevice(word.text))) {
    return "it would overwrite a disk";
  }
  return null;
}

/** Options end at `--`. */
function operands(args: string[]): string[] {
  const end = args.indexOf("--");
  return end < 0
    ? args.filter((word) => !word.startsWith("-"))
    : [...args.slice(0, end).filter((word) => !word.startsWith("-")), ...args.slice(end + 1)];
}

function isRecursive(args: string[]): boolean {
  const end = args.indexOf("--");
  return args
    .slice(0, end < 0 ? undefined : end)
    .some((word) => /^-[a-zA-Z]*[rR]/.test(word) || word.startsWith("--rec"));
}

function isWholeSystem(path: string): boolean {
  if (!path.startsWith("/")) return false;
  const normal = posix.normalize(path);
  return normal === "/" || normal === "/*" || normal === "/.*" || normal === "/**";
}

function isBlockDevice(path: string): boolean {
  return BLOCK_DEVICE.test(posix.normalize(path));
}

/** A function that calls itself twice, once in the background, and is called. */
function forkBomb({ commands }: ShellScript): string | null {
  const name = (command: ShellCommand): string => command.words[0]?.text ?? "";
  const own = commands.filter((command) => command.in_function !== null && name(command) === command.in_function);
  const called = commands.filter((command) => command.in_function === null).map(name);
  const bomb = own.some((command) => {
    const calls = own.filter((other) => other.in_function === command.in_function);
    return calls.length >= 2 && calls.some((other) => other.background) && called.includes(command.in_function ?? "");
  });
  return bomb ? "it is a fork bomb" : null;
}

/** Programs that only ever destroy, change who may do what, or end others' work. */
const DESTRUCTIVE: ReadonlySet<string> = new Set([
  "dd",
  "shred",
  "mkfs",
  "wipefs",
  "truncate",
  "sudo",
  "pkill",
  "killall",
  "fdisk",
  "parted",
  "userdel",
  "dropdb",
]);
const DESTRUCTIVE_CALLS: readonly RegExp[] = [
  /^rm(?: \S+)* -\w*[rRf]/,
  /^rm(?: \S+)* --(?:recursive|force)/,
  /^(?:chmod|chown|chgrp)(?: \S+)* (?:-\w*R|--recursive)/,
  /^kill(?: \S+)* (?:-9|-KILL|-s KILL|-1$)/,
  /^find .* -(?:delete|exec(?:dir)? rm)\b/,
  /^git(?: -\S+)* push(?: \S+)* (?:-\w*f|--force|--delete|-d\b|--mirror|\+\S)/,
  /^git(?: -\S+)* (?:reset(?: \S+)* --hard|clean(?: \S+)* -\w*f|checkout(?: \S+)* (?:--(?: |$)|-f))/,
  /^git(?: -\S+)* (?:restore|branch -D|stash (?:drop|clear)|filter-branch)/,
  /^(?:docker|podman)(?: \w+)? (?:rm|rmi|prune|kill)\b/,
  /^kubectl(?: \S+)* (?:delete|drain)\b/,
  /^terraform(?: \S+)* (?:apply|destroy)\b/,
  /^(?:npm|yarn|pnpm|cargo|twine) (?:publish|unpublish|upload)\b/,
];

function isDestructive({ name, args, command }: Call): boolean {
  // What came over a pipe and is run was seen by nobody.
  if (command.piped && SHELLS.has(name) && scriptArgument(args) === null) return true;
  if (DESTRUCTIVE.has(name) || name.startsWith("mkfs.")) return true;
  const line = [name, ...args].join(" ");
  return DESTRUCTIVE_CALLS.some((pattern) => pattern.test(line));
}
