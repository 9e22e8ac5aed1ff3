import { isAbsolute, join, resolve } from "node:path";
import type { Field, Sources, Surroundings } from "./field.ts";

/**
 * A path of the file system. `~` is the home folder; a relative one starts from the folder of the file that names it.
 */
export function path<T extends string | null>(
  options: Sources & { about: string; fallback: T; shown?: string },
): Field<string | T> {
  const check = (value: unknown, surroundings: Surroundings): string | undefined => {
    if (typeof value !== "string" || value.trim() === "" || value.includes("\0")) return undefined;
    return absolutePath(value.trim(), surroundings);
  };
  return { kind: "field", ...options, allowed: "a path", secret: false, read: check, parse: check };
}

/** Expands `~` and makes a path absolute. */
export function absolutePath(given: string, surroundings: Surroundings): string {
  if (given === "~") return surroundings.home;
  if (given.startsWith("~/")) return join(surroundings.home, given.slice(2));
  return isAbsolute(given) ? resolve(given) : resolve(surroundings.folder, given);
}
