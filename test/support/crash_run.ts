import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CrashScenario } from "./crash_scenarios.ts";
import type { Product } from "./product.ts";

/** One run of a scenario. */
export interface CrashRun {
  scenario: CrashScenario;
  /** In every name that belongs to this run. */
  key: string;
  thread: string;
  ws_id: string;
}

/** Lines of a file of the workspace. */
export function linesOf(product: Product, name: string): string[] {
  const path = join(product.workspace, name);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
}
