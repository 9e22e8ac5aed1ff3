import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { buildProgram } from "../src/cli/program.ts";
import { settingVariables } from "../src/config/leaves.ts";
import { ROOT } from "./structure/source.ts";

const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

const pages = [
  "README.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
]
  .filter((path) => existsSync(join(ROOT, path)))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

test("the README begins a trial and a test run with two words each", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  expect(readme).toContain("npm ci && npm start");
  expect(readme).toContain("npm ci && npm test");
  expect(scripts["start"]).toBe("node bin/turnstone.cjs start");
});

test("links between pages lead somewhere", () => {
  const broken = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
      .filter(([, target = ""]) => !existsSync(join(ROOT, dirname(path), target)))
      .map(([, target]) => `${path} links to ${target}`),
  );
  expect(broken).toEqual([]);
});

test("commands and scripts that the pages name are there", () => {
  const commands = buildProgram().commands.map((command) => command.name());
  const unknown = pages.flatMap(({ path, text }) => [
    ...named(text, /`turnstone ([a-z]+)/g, commands).map((name) => `${path} names turnstone ${name}`),
    ...named(text, /\bnpm run ([a-z:]+)/g, Object.keys(scripts)).map((name) => `${path} names npm run ${name}`),
  ]);
  expect(unknown).toEqual([]);
});

test("variables that the README names are settings", () => {
  const readme = pages.find((page) => page.path === "README.md")?.text ?? "";
  expect(named(readme, /\b(TURNSTONE_[A-Z_]+)/g, settingVariables())).toEqual([]);
});

/** What a pattern finds in a text that is not one of the known names. */
function named(text: string, pattern: RegExp, known: readonly string[]): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? "").filter((name) => !known.includes(name));
}
