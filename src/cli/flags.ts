import type { Command } from "commander";
import { Option } from "commander";
import { settingLeaves } from "../config/leaves.ts";
import type { Config } from "../config/load.ts";
import { loadProcessConfig } from "../config/load.ts";
import type { Terminal } from "./terminal.ts";

export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** Declares `--config` and every flag that a setting names; they may stand before or after the subcommand. */
export function addSettingFlags(program: Command): void {
  program.addOption(new Option("--config <file>", "settings file").helpGroup("Settings:"));
  for (const { field } of settingLeaves()) {
    if (field.flag === undefined) continue;
    program.addOption(new Option(`--${field.flag}`, field.about).helpGroup("Settings:"));
  }
}

/** The flags that were given, by name without dashes. */
export function givenFlags(program: Command): Flags {
  const values = program.opts<Flags>();
  return Object.fromEntries(program.options.map((option) => [option.name(), values[option.attributeName()]]));
}

/** The given flags as arguments for a process of our own. */
export function flagArguments(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, value];
  });
}

/** The settings, or null after saying what is wrong with them. */
export function loadOrFail(flags: Flags, terminal: Terminal): Config | null {
  const result = loadProcessConfig(flags);
  if (!result.ok) {
    terminal.fail(result.error);
    return null;
  }
  for (const warning of result.warnings) terminal.warn(warning);
  return result.config;
}
