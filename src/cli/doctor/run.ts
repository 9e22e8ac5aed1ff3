import { existsSync } from "node:fs";
import { prepareDataDirectory } from "../../config/data_directory.ts";
import { loadProcessConfig } from "../../config/load.ts";
import { describeError } from "../../lib/log.ts";
import { visible } from "../../lib/visible.ts";
import type { Flags } from "../flags.ts";
import { abortOnStopSignal } from "../supervisor/stop_signals.ts";
import type { Terminal } from "../terminal.ts";
import type { Check, CheckContext, Finding } from "./check.ts";
import { failed, ok, warning } from "./check.ts";
import { CHECKS } from "./index.ts";

/** Runs every check and shows what it found. The process ends with 1 when anything failed. */
export async function runDoctor(flags: Flags, as_json: boolean, terminal: Terminal): Promise<void> {
  const findings = await diagnose(flags, abortOnStopSignal());
  const well = findings.every((finding) => finding.status !== "failed");
  if (as_json) terminal.print(JSON.stringify({ ok: well, findings }));
  else for (const finding of findings) terminal.print(findingText(finding));
  if (!well) process.exitCode = 1;
}

async function diagnose(flags: Flags, signal: AbortSignal): Promise<Finding[]> {
  const loaded = loadProcessConfig(flags);
  if (!loaded.ok) {
    return loaded.error.split("\n").map((error) => failed("config", error, "Change or remove that setting."));
  }
  const { config } = loaded;
  const settings = [
    ok("config", configText(config.config_path)),
    ...loaded.warnings.map((text) => warning("config", text, "Rename or unset it.")),
  ];
  const prepared = prepareDataDirectory(config);
  if (!prepared.ok) {
    return [...settings, failed("data directory", prepared.error, "Make it writable, or choose another.")];
  }
  const context = { config, jwt_secret: prepared.jwt_secret, signal };
  const groups = await Promise.all(CHECKS.map((check) => runCheck(check, context)));
  return [...settings, ...groups.flat()];
}

function configText(path: string): string {
  return existsSync(path)
    ? `${path} and the environment are in order.`
    : `There is no ${path}: the environment is in order, and the rest is as it comes.`;
}

async function runCheck(check: Check, context: CheckContext): Promise<Finding[]> {
  try {
    return await check.run(context);
  } catch (error) {
    // A check that breaks is a fault of ours, and still no reason to keep the other findings back.
    return [failed(check.name, `This could not be checked: ${describeError(error)}`, "Please report this.")];
  }
}

const MARKS = { ok: "ok     ", warning: "warning", failed: "FAILED " } as const;

function findingText(finding: Finding): string {
  const fix = finding.status === "ok" ? "" : `\n         ${visible(finding.fix)}`;
  // What others answered is part of it, and must not reach the terminal as commands.
  return `${MARKS[finding.status]}  ${visible(`${finding.part}: ${finding.message}`)}${fix}`;
}
