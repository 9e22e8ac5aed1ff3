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
