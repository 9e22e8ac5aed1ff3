import type { Check } from "./check.ts";
import { clockCheck } from "./clock.ts";
import { discordCheck } from "./discord.ts";
import { mcpCheck } from "./mcp.ts";
import { modelCheck } from "./model.ts";
import { processesCheck } from "./processes.ts";
import { sandboxCheck } from "./sandbox.ts";
import { storeCheck } from "./store.ts";

/** Every group of checks, in the order in which a person mends things. */
export const CHECKS: readonly Check[] = [
  storeCheck,
  modelCheck,
  mcpCheck,
  sandboxCheck,
  discordCheck,
  processesCheck,
  clockCheck,
];
