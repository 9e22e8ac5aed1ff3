import { lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileErrorCode } from "./open_file.ts";
import { makeFolder } from "./make_folder.ts";

/** Where a path leads. */
export interface ResolvedPath {
  /** As a person would write it: relative to the root when inside, else absolute. */
  shown: string;
  /** Absolute, `~` expanded, links not yet followed. */
  absolute: string;
  /** With every link resolved, also for a file that does not exist yet (its nearest existing parent is resolved). */
  real_path: string;
  /** Whether the real path lies within the root's real path. */
  inside: boolean;
}

export type PathResolution = { ok: true; path: ResolvedPath } | { ok: false; error: string };

/** The folder that a workstream works in. */
export interface Workspace {
  /** Absolute, with every link resolved. Exists. */
  readonly root: string;
  /** Never throws: a NUL, an unknown `~user`, a parent that is a file are errors in words. */
  resolve(path: string): PathResolution;
}

export interface WorkspaceOptions {
  /** Folders and files that no path may lead into, such as the server's data directory. The root may lie in one. */
  off_limits?: readonly string[];
}

/** Links that one path may go through; Linux itself stops at 40. */
const LINKS_MAX = 40;

/** Other processes' memory and environment hold secrets of the server, whatever the file permissions say. */
const PROCESS_SECRETS = /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem)$/;

/** Opens a workspace, creating its folder where it is missing. Throws one plain sentence when that cannot be done. */
export function openWorkspace(root: string, options: WorkspaceOptions = {}): Workspace {
  const real_root = prepareRoot(root);
  const off_limits = (options.off_limits ?? []).map(realPathOrSame);
  return {
    root: real_root,
    resolve(path) {
      const expanded = expandPath(path, real_root);
      if (!expanded.ok) return expanded;
      const followed = followLinks(expanded.absolute);
      if (!followed.ok) return { ok: false, error: `${quote(path)}: ${followed.error}` };
      const { real_path } = followed;
      if (isForbidden(real_path, real_root, off_limits)) {
        return { ok: false, error: `${quote(path)} belongs to the server itself and cannot be used by tools.` };
      }
      const absolute = resolve(expanded.absolute);
      const inside = isWithin(real_path, real_root);
      return {
        ok: true,
        path: { shown: shownPath(absolute, real_path, inside, real_root), absolute, real_path, inside },
      };
    },
  };
}

/** Whether `path` is `folder` or lies in it. Both absolute and normalised. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The path for people, with the real target behind an arrow when links lead elsewhere than the words say. */
export function describePath(path: ResolvedPath, workspace: Workspace): string {
  const target = path.inside ? relative(workspace.root, path.real_path) || "." : path.real_path;
  return target === path.shown ? path.shown : `${path.shown} → ${target}`;
}

/** True for a path that is written as lying in the workspace but leads out of it through a link. */
export function leadsOut(path: ResolvedPath, workspace: Workspace): boolean {
  return !path.inside && isWithin(path.absolute, workspace.root);
}

/** False when a link was put into the path since `real_path` was approved. */
export function stillLeadsTo(workspace: Workspace, path: string, real_path: string): boolean {
  const resolution = workspace.resolve(path);
  return resolution.ok && resolution.path.real_path === real_path;
}

function prepareRoot(root: string): string {
  try {
    makeFolder(root);
    return realpathSync.native(root);
  } catch (cause) {
    throw new Error(`The workspace ${root} cannot be opened. Name another folder or make this one writable.`, {
      cause,
    });
  }
}

function realPathOrSame(path: string): string {
  const followed = followLinks(resolve(path));
  return followed.ok ? followed.real_path : resolve(path);
}

function isForbidden(real_path: string, root: string, off_limits: readonly string[]): boolean {
  if (PROCESS_SECRETS.test(real_path)) return true;
  return off_limits.some((place) => {
    const is_own_workspace = isWithin(root, place) && isWithin(real_path, root);
    return isWithin(real_path, place) && !is_own_workspace;
  });
}

function shownPath(absolute: string, real_path: string, inside: boolean, root: string): string {
  if (!inside) return absolute;
  return relative(root, isWithin(absolute, root) ? absolute : real_path) || ".";
}

type Expansion = { ok: true; absolute: string } | { ok: false; error: string };

/** Makes a path absolute but keeps `..` and a last slash, whose meaning depends on what is on the disk. */
function expandPath(path: string, root: string): Expansion {
  if (path === "") return { ok: false, error: "The path is empty: name a file or folder." };
  if (path.includes("\0")) return { ok: false, error: "The path holds a NUL character, which no file name can have." };
  if (!path.isWellFormed()) return { ok: false, error: "The path is not valid Unicode, so it names no file." };
  if (!path.startsWith("~")) return { ok: true, absolute: isAbsolute(path) ? path : root + sep + path };
  const end = path.includes("/") ? path.indexOf("/") : path.length;
  const home = homeOf(path.slice(1, end));
  if (home === null) {
    return { ok: false, error: `There is no user ${quote(path.slice(1, end))}; a file of that name is ./${path}.` };
  }
  return { ok: true, absolute: home + path.slice(end) };
}

function homeOf(user: string): string | null {
  if (user === "") return homedir();
  let accounts: string;
  try {
    accounts = readFileSync("/etc/passwd", "utf8");
  } catch {
    return null;
  }
  const fields = accounts
    .split("\n")
    .map((line) => line.split(":"))
    .find(([name]) => name === user);
  return fields?.[5] || null;
}

type Following = { ok: true; real_path: string } | { ok: false; error: string };

/**
 * Resolves links part by part as the kernel does, so that `link/..` is the parent of where the link leads. Unlike
 * `realpath` it goes on where parts are missing: a link whose target does not exist yet resolves to that target.
 */
function followLinks(absolute: string): Following {
  // The system does it for what exists, in a fraction of the time, and answers nothing else.
  try {
    return { ok: true, real_path: realpathSync.native(absolute) };
  } catch {
    return followPartByPart(absolute);
  }
}

function followPartByPart(absolute: string): Following {
  const pending = absolute.split(sep).toReversed();
  const wants_folder = absolute.endsWith(sep);
  let current: string = sep;
  let state: "folder" | "file" | "missing" = "folder";
  let links = 0;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part === "" || part === ".") continue;
    if (state === "file") return { ok: false, error: `${current} is a file, so nothing can be inside it.` };
    if (part === "..") {
      current = dirname(current);
      state = kindOf(current) === "missing" ? "missing" : "folder";
      continue;
    }
    const next = join(current, part);
    const kind = kindOf(next);
    if (kind === "link") {
      links += 1;
      if (links > LINKS_MAX) return { ok: false, error: "its links lead in a circle." };
      const target = linkTarget(next);
      if (target === null) return { ok: false, error: `the link ${next} cannot be followed.` };
      if (isAbsolute(target)) current = sep;
      pending.push(...target.split(sep).toReversed());
      continue;
    }
    if (kind !== "folder" && kind !== "file" && kind !== "missing") return { ok: false, error: kind.error };
    current = next;
    state = kind;
  }
  if (wants_folder && state === "file") {
    return { ok: false, error: "it ends in a slash, but it is a file, not a folder." };
  }
  if (wants_folder && state === "missing") {
    return { ok: false, error: "it ends in a slash, but there is no such folder." };
  }
  return { ok: true, real_path: current };
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

type PathKind = "folder" | "file" | "link" | "missing" | { error: string };

function kindOf(path: string): PathKind {
  try {
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return "link";
    return stats.isDirectory() ? "folder" : "file";
  } catch (error) {
    const code = fileErrorCode(error);
    if (code === "ENOENT") return "missing";
    if (code === "ENAMETOOLONG") return { error: "the name is too long." };
    if (code === "ELOOP") return { error: "its links lead in a circle." };
    if (code === "EACCES" || code === "EPERM") {
      return { error: `${dirname(path)} may not be entered by the server's user.` };
    }
    return { error: `it cannot be looked at (${code || "unknown error"}).` };
  }
}

function quote(path: string): string {
  return JSON.stringify(path);
}
