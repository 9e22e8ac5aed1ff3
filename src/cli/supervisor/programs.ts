import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../package.ts";

/** What is started as a process of its own. */
export type ProgramName = "server" | "gateway" | "practice";

/** The arguments after Node that run a program. The gateway is a program beside ours, not a part of it. */
export function programArguments(name: ProgramName): string[] {
  const root = packageRoot();
  if (name === "server") return [join(root, "bin", "turnstone.cjs"), "server"];
  const file = name === "gateway" ? join("gateway", "main") : join("gateway", "practice", "main");
  const built = join(root, "dist", `${file}.js`);
  return [existsSync(built) ? built : join(root, `${file}.ts`)];
}
