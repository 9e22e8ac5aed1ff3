import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { missingPermissions } from "../src/cli/doctor/discord_permissions.ts";
import { buildProgram } from "../src/cli/program.ts";
import { runTurnstone } from "../src/cli/testing/run_turnstone.ts";
import { settingVariables } from "../src/config/leaves.ts";
import { loadConfig } from "../src/config/load.ts";
import { ERROR_CODES } from "../src/protocol/error.ts";
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

test("pictures are there and light enough to be looked at on a slow line", () => {
  const pictures = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, target = ""]) => join(ROOT, dirname(path), target)),
  );
  expect(pictures.length).toBeGreaterThan(0);
  for (const picture of pictures) expect(statSync(picture).size, picture).toBeLessThan(300 * 1024);
});

test("settings that the pages show are taken as they stand", () => {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-readme-"));
  try {
    writeFileSync(join(folder, "anthropic.key"), "not-a-key");
    const examples = pages.flatMap(({ path, text }) => examplesIn(text, "toml").map((example) => ({ path, example })));
    expect(examples.length).toBeGreaterThan(5);
    for (const { path, example } of examples) {
      const file = join(folder, "config.toml");
      writeFileSync(file, example);
      const env = { TURNSTONE_CONFIG: file, BOT_TOKEN: "bot", OPENAI_API_KEY: "key", ANTHROPIC_API_KEY: "key" };
      const result = loadConfig({ flags: {}, env, cwd: folder, home: folder });
      expect(result.ok ? "" : `${path}: ${result.error}`).toBe("");
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("commands that the pages show do what they say, one after the other (REQ-SERVER-040)", async () => {
  const home = mkdtempSync(join(tmpdir(), "turnstone-readme-"));
  const data_dir = join(home, "data");
  try {
    const admin = shownLines().filter((line) => line.startsWith("npx turnstone admin "));
    expect(admin.length).toBeGreaterThan(5);
    for (const line of admin) {
      // The folder that a person would stand in is this checkout, which is to stay clean.
      const args = line
        .split(" ")
        .slice(2)
        .map((arg) => arg.replace(/^turnstone-backup/, join(home, "backup")));
      const { code, stderr } = await runTurnstone(args, { env: { HOME: home, TURNSTONE_DATA_DIR: data_dir } });
      expect(`${line}: ${code} ${stderr}`).toBe(`${line}: 0 `);
    }
  } finally {
    rmSync(home, { recursive: true });
  }
}, 120_000);

test("other command lines that the pages show name commands and variables that there are", () => {
  const known = [...settingVariables(), "OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
  const commands = buildProgram().commands.map((command) => command.name());
  const programs = new RegExp(
    `^(npm (ci|start|test)|git pull|docker compose|npx turnstone (${commands.join("|")}))\\b`,
  );
  const strange = shownLines().flatMap((line) => {
    const assignments = line.match(/^([A-Z_]+=\S+ )*/)?.[0] ?? "";
    const variables = named(assignments, /([A-Z_]+)=/g, known);
    return programs.test(line.slice(assignments.length)) ? variables : [...variables, line];
  });
  expect(strange).toEqual([]);
});

test("the invitation in the README asks for what the bot needs, and for no more", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const asked = BigInt(/permissions=(\d+)/.exec(readme)?.[1] ?? "0");
  expect(missingPermissions(asked)).toEqual([]);
  const needed = Array.from({ length: 64 }, (_, index) => 1n << BigInt(index)).filter((bit) => (asked & bit) !== 0n);
  for (const bit of needed) expect(missingPermissions(asked & ~bit), `bit ${bit}`).toHaveLength(1);
});

test("the page on errors explains every code, and no other (REQ-SERVER-041)", () => {
  const page = readFileSync(join(ROOT, "docs", "errors.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \|(.*)\|(.*)\|$/gm)];
  expect(new Set(rows.map((row) => row[1]))).toEqual(new Set(ERROR_CODES));
  expect(rows).toHaveLength(ERROR_CODES.length);
  for (const [row, , cause = "", remedy = ""] of rows) {
    expect(cause.trim().length, row).toBeGreaterThan(10);
    expect(remedy.trim().length, row).toBeGreaterThan(10);
  }
});

test("the page on the architecture knows every folder", () => {
  const page = readFileSync(join(ROOT, "docs", "architecture.md"), "utf8");
  const folders = ["src", "gateway"].flatMap((root) =>
    readdirSync(join(ROOT, root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== "testing")
      .map((entry) => `\`${root}/${entry.name}\``),
  );
  expect(folders.filter((folder) => !page.includes(folder))).toEqual([]);
});

/** Every command line of the pages, in order. A backslash at the end of a line carries it on. */
function shownLines(): string[] {
  const blocks = pages.flatMap(({ text }) => examplesIn(text, "sh"));
  return blocks.flatMap((block) =>
    block
      .replaceAll(/\\\n */g, "")
      .trim()
      .split("\n"),
  );
}

/** The code blocks in one language, without the indentation that a list gives them. */
function examplesIn(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, "gm"))].map(
    ([, indent = "", body = ""]) => body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

/** What a pattern finds in a text that is not one of the known names. */
function named(text: string, pattern: RegExp, known: readonly string[]): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? "").filter((name) => !known.includes(name));
}
