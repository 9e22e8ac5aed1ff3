import { FILE_MATCHES_MAX, LINE_CHARACTERS_MAX } from "./search_results.ts";

/** What to look for, and where: `target` is relative to the folder that the program runs in. */
export interface SearchOrder {
  query: string;
  /** `.` or the name of one file, with `./` before it, so that none reads as an option. */
  target: string;
  /** Whether ignored and noisy folders are searched, too. */
  everything: boolean;
  /** Paths below the folder that are left out, such as `./data`. */
  excluded: readonly string[];
}

/**
 * A program that searches. All of them write `path`, NUL, `line:text`, and end with 0, 1 (nothing found) or 2 (a
 * fault).
 */
export interface SearchEngine {
  file: string;
  args(order: SearchOrder): string[];
}

/** Folders that hold what others wrote, under any version control. */
export const NOISE: readonly string[] = [".git", "node_modules"];

/** Where ripgrep is installed with us; null where there is none for this machine. */
async function bundledRipgrep(): Promise<string | null> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    return null;
  }
}

export function ripgrep(file: string): SearchEngine {
  return {
    file,
    args: ({ query, target, everything, excluded }) =>
      [
        ["--no-config", "--no-messages", "--hidden", "--engine=auto", "--no-require-git"],
        ["--null", "--no-heading", "--with-filename", "--line-number", "--color=never"],
        [`--max-count=${FILE_MATCHES_MAX}`, `--max-columns=${LINE_CHARACTERS_MAX + 1}`, "--max-columns-preview"],
        everything ? ["--no-ignore"] : NOISE.flatMap((name) => ["--glob", `!${name}`]),
        excluded.flatMap((path) => ["--glob", `!${escapeGlob(path.replace(/^\.\//, "/"))}`]),
        ["--regexp", query, "--", target],
      ].flat(),
  };
}

export const grep: SearchEngine = {
  file: "grep",
  args: ({ query, target, everything, excluded }) =>
    [
      ["-r", "-n", "-H", "-I", "-E", "-s", "--null", "--color=never", "-D", "skip", "-m", String(FILE_MATCHES_MAX)],
      everything ? [] : NOISE.map((name) => `--exclude-dir=${name}`),
      // grep excludes by name only: too much rather than too little.
      excluded.flatMap((path) => {
        const name = escapeGlob(path.slice(path.lastIndexOf("/") + 1));
        return [`--exclude-dir=${name}`, `--exclude=${name}`];
      }),
      ["-e", query, "--", target],
    ].flat(),
};

function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}\\!]/g, "\\$&");
}

/** The engines in the order of preference; the first that starts is used. */
export async function searchEngines(): Promise<SearchEngine[]> {
  const bundled = await bundledRipgrep();
  return [...(bundled === null ? [] : [ripgrep(bundled)]), ripgrep("rg"), grep];
}
