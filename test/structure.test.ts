import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { badCitations, badNames, bannedConstructs, bannedWords, tooLong } from "./structure/form.ts";
import { cycles, deadFiles, environmentReaders, wrongGatewayImports, wrongRanks } from "./structure/layers.ts";
import { parseSource, readSources, ROOT } from "./structure/source.ts";

const files = readSources(["src", "gateway", "test"]);
const product = files.filter((file) => !file.path.startsWith("test/"));
const ENTRIES = ["src/main.ts", "gateway/main.ts", "gateway/practice/main.ts"];

test("a file imports its own folder and folders of lower rank", () => {
  expect(wrongRanks(files)).toEqual([]);
});

test("an import that goes up, sideways or into the gateway is seen", () => {
  const up = parseSource("src/lib/a.ts", 'import type { Store } from "../contracts/store.ts";');
  const sideways = parseSource("src/store/a.ts", 'const x = await import("../mcp/manager.ts");');
  const gateway = parseSource("src/cli/a.ts", 'type X = import("../../gateway/config.ts").X;');
  const homeless = parseSource("src/misc/a.ts", 'import "../lib/b.ts";');
  const down = parseSource("src/http/a.ts", 'import { x } from "../lib/x.ts"; export { y } from "./y.ts";');
  expect(wrongRanks([up, sideways, gateway, homeless, down])).toEqual([
    "src/lib/a.ts:1 must not import src/contracts/store.ts",
    "src/store/a.ts:1 must not import src/mcp/manager.ts",
    "src/cli/a.ts:1 must not import gateway/config.ts",
    "src/misc/a.ts: its folder has no rank",
  ]);
});

test("the gateway sees protocol and lib alone, and one folder of it loads discord.js (REQ-GATEWAY-001)", () => {
  expect(wrongGatewayImports(files)).toEqual([]);
});

test("a gateway that reaches too far, and a second user of discord.js, are seen", () => {
  const far = parseSource("gateway/a.ts", 'import { loadConfig } from "../src/config/load.ts";');
  const library = parseSource("gateway/outbound/a.ts", 'import type { Client } from "discord.js";');
  const fine = parseSource(
    "gateway/discord/a.ts",
    'import { Client } from "discord.js"; import "../../src/lib/ids.ts";',
  );
  expect(wrongGatewayImports([far, library, fine])).toHaveLength(2);
});

test("settings are read in one place of each process", () => {
  expect(environmentReaders(product)).toEqual([]);
});

test("another reader of the environment is seen, a comment about it is not", () => {
  const reader = parseSource("src/lib/a.ts", "export const home = process.env.HOME;");
  const comment = parseSource("src/lib/b.ts", "/** Not from process.env. */\nexport const a = 1;");
  const config = parseSource("src/config/a.ts", "export const home = process.env.HOME;");
  expect(environmentReaders([reader, comment, config])).toEqual(["src/lib/a.ts reads process.env"]);
});

test("no files need each other in a ring, not even for a type", () => {
  expect(cycles(product)).toEqual([]);
});

test("a ring of three is seen", () => {
  const ring = ["a", "b", "c"].map((name, index) =>
    parseSource(`src/lib/${name}.ts`, `import type { X } from "./${"bca"[index]}.ts";`),
  );
  expect(cycles(ring)).toEqual(["src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts"]);
});

test("every product file is part of a program", () => {
  expect(deadFiles(product, ENTRIES)).toEqual([]);
});

test("a file that nobody needs is seen, the program of a worker is not taken for one", () => {
  const main = parseSource("src/main.ts", 'new Worker(new URL("./lib/worker.ts", import.meta.url));');
  const worker = parseSource("src/lib/worker.ts", 'import "./used.ts";');
  const used = parseSource("src/lib/used.ts", "export const a = 1;");
  const dead = parseSource("src/lib/dead.ts", 'import "./used.ts";');
  expect(deadFiles([main, worker, used, dead], ["src/main.ts"])).toEqual(["src/lib/dead.ts"]);
  const either = parseSource("src/main.ts", "new URL(`./lib/dead.${ending}`, import.meta.url);");
  expect(deadFiles([either, dead, used], ["src/main.ts"])).toEqual([]);
});

test("files, functions and lines stay short", () => {
  expect(files.flatMap(tooLong)).toEqual([]);
});

test("a long file, function or line is seen, and the actor's limit is lower", () => {
  const filler = (count: number): string => "// x\n".repeat(count);
  expect(tooLong(parseSource("src/lib/a.ts", filler(401)))).toHaveLength(1);
  expect(tooLong(parseSource("src/workstream/actor.ts", filler(251)))).toHaveLength(1);
  expect(tooLong(parseSource("src/workstream/other.ts", filler(251)))).toEqual([]);
  expect(tooLong(parseSource("src/lib/a.ts", `const f = () => {\n${filler(69)}};`))).toEqual([
    "src/lib/a.ts:1 is a function of 71 lines",
  ]);
  expect(tooLong(parseSource("src/lib/a.ts", `// ${"x".repeat(120)}`))).toEqual(["src/lib/a.ts:1 is too wide"]);
});

test("the code does without any, enums, namespaces, inheritance, default exports and wholesale exports", () => {
  expect(files.flatMap(bannedConstructs)).toEqual([]);
});

test.each([
  ["let a: any;", "uses any"],
  ["enum A { b }", "declares an enum"],
  ["namespace A { export const b = 1; }", "declares a namespace"],
  ['export * from "./b.ts";', "exports everything of another file"],
  ["export default 1;", "has a default export"],
  ["class A extends B {}", "inherits from a class"],
])("the construct is seen: %s", (text, what) => {
  expect(bannedConstructs(parseSource("src/lib/a.ts", text))).toEqual([`src/lib/a.ts:1 ${what}`]);
});

test("an error class may extend Error, and the word any in a text is only a word", () => {
  expect(bannedConstructs(parseSource("src/lib/a.ts", 'class A extends Error {}\nexport const b = "any";'))).toEqual(
    [],
  );
});

test("nothing is left unfinished and nothing names somebody's machine", () => {
  const texts = [...files.map(({ path, text }) => ({ path, text })), ...readTexts(["docs", "tools", "bin", ".ci"])];
  expect(texts.flatMap(({ path, text }) => bannedWords(path, text))).toEqual([]);
});

test("marks of unfinished work and machine paths are seen", () => {
  const marks = [mark("TO", "DO later"), mark("cd /", "home/ada/code"), mark("in /", "root/x")];
  expect(bannedWords("a.ts", marks.join("\n"))).toHaveLength(3);
  expect(bannedWords("a.ts", "~/home/x, https://a/work/b, /workspace/x")).toEqual([]);
});

test("files are named in lower case with underscores", () => {
  expect(badNames(files.map((file) => file.path))).toEqual([]);
  expect(badNames(["src/lib/fileType.ts", "src/lib/file-type.ts", "src/lib/file_type.test.ts"])).toHaveLength(2);
});

test("what a test's title cites is a fault case that there is", () => {
  expect(files.flatMap(badCitations)).toEqual([]);
});

test("a citation of a fault case that there is not is seen", () => {
  const [good, high, foreign] = ["FILE-02", "FILE-99", "NONE-01"];
  const text = `test("keeps CRLF (${good}, ${high})", () => {});\ntest.each([1])("x (${foreign})", f);`;
  const file = parseSource("a.test.ts", text);
  expect(badCitations(file)).toEqual(["a.test.ts:1 cites FILE-99", "a.test.ts:2 cites NONE-01"]);
});

test("each tool is a definition, its code, a line in the list and a test", () => {
  const definitions = readdirSync(join(ROOT, "tools")).filter((name) => name.endsWith(".json"));
  const listed = files.find((file) => file.path === "src/tools/index.ts")?.imports.map(({ target }) => target) ?? [];
  for (const definition of definitions) {
    const name = definition.replace(".json", "");
    const content: { name: string } = JSON.parse(readFileSync(join(ROOT, "tools", definition), "utf8"));
    expect(content.name).toBe(name);
    expect(listed, `src/tools/index.ts does not list ${name}`).toContain(`src/tools/${name}.ts`);
    expect(existsSync(join(ROOT, `src/tools/${name}.test.ts`)), `${name} has no test beside it`).toBe(true);
  }
  expect(definitions).toHaveLength(15);
});

/** Written in parts, so that this file passes its own rule. */
function mark(...parts: string[]): string {
  return parts.join("");
}

function readTexts(folders: readonly string[]): { path: string; text: string }[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path, text: readFileSync(path, "utf8") })),
  );
}
