import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { gatewayEnvironment } from "./child_environment.ts";
import { settingLeaves } from "./leaves.ts";
import type { SettingLeaf } from "./leaves.ts";
import { loadConfig } from "./load.ts";
import { DEFAULT_MODEL_VARIABLES } from "./model_settings.ts";

const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

/** The row that the page must have for a setting. */
function rowOf({ path, field }: SettingLeaf): string {
  const named = Object.entries(DEFAULT_MODEL_VARIABLES).find(([, at]) => at.replace("default", "<name>") === path)?.[0];
  const sources = [field.env ?? named, field.flag === undefined ? undefined : `--${field.flag}`];
  const also = sources.filter((one) => one !== undefined).map((one) => `\`${one}\``);
  const fallback = field.shown ?? (field.required === true ? "must be set" : plain(field.fallback));
  const allowed = field.allowed.replace("a text that is not empty", "a text");
  return `| \`${path}\` | ${field.about} | ${allowed} | ${fallback} | ${also.join(", ")} |`;
}

function plain(fallback: unknown): string {
  if (fallback === null || fallback === "" || (Array.isArray(fallback) && fallback.length === 0)) return "none";
  return JSON.stringify(fallback).replaceAll('"', "");
}

// REQ-SERVER-027
test.each(settingLeaves().map((leaf) => [leaf.path, leaf] as const))("the page describes %s", (_path, leaf) => {
  expect(page).toContain(rowOf(leaf));
});

test("the page names every variable that a gateway is started with", () => {
  const result = loadConfig({ flags: {}, env: {}, cwd: "/", home: "/" });
  if (!result.ok) throw new Error(result.error);
  const given = Object.keys(gatewayEnvironment(result.config, "secret")).filter((name) =>
    name.startsWith("TURNSTONE_"),
  );
  for (const name of given) expect(page).toContain(`\`${name}\``);
});
