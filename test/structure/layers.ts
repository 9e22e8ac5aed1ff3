import type { SourceFile } from "./source.ts";
import { isTestFile } from "./source.ts";

/** A file sees its own folder and folders of lower rank. */
const RANKS: Readonly<Record<string, number>> = {
  "src/protocol": 0,
  tools: 0,
  "src/lib": 1,
  "src/config": 2,
  "src/contracts": 2,
  "src/store": 3,
  "src/providers": 3,
  "src/tools": 3,
  "src/mcp": 3,
  "src/auth": 3,
  "src/catalog": 4,
  "src/pipeline": 5,
  "src/agent": 6,
  "src/workstream": 7,
  "src/http": 8,
  "src/cli": 9,
  "src/main.ts": 10,
};

/** What the gateway sees of the server's code. */
const GATEWAY_SEES = ["src/protocol", "src/lib"];

/** Files that may read the environment: each process reads its settings in one place. */
const READS_ENVIRONMENT = /^(src\/config\/|gateway\/(config|main)\.ts$|gateway\/practice\/main\.ts$)/;

/** The part of the repository that a file belongs to. */
function partOf(path: string): string {
  const parts = path.split("/");
  return parts[0] === "src" || parts[0] === "gateway" ? parts.slice(0, 2).join("/") : (parts[0] ?? path);
}

/** Imports that go up or sideways in `src/`. */
export function wrongRanks(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => file.path.startsWith("src/") && !isTestFile(file.path))
    .flatMap((file) =>
      file.imports.flatMap(({ target, line }) => {
        const own = RANKS[partOf(file.path)];
        if (own === undefined) return [`${file.path}: its folder has no rank`];
        if (!/^(src|gateway|tools|test)\//.test(target) || partOf(target) === partOf(file.path)) return [];
        const other = RANKS[partOf(target)];
        return other !== undefined && other < own ? [] : [`${file.path}:${line} must not import ${target}`];
      }),
    );
}

/** Imports of the gateway that reach too far into `src/`, and whoever but `gateway/discord` loads discord.js. */
export function wrongGatewayImports(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !isTestFile(file.path))
    .flatMap((file) =>
      file.imports.flatMap(({ target, line }) => {
        const fromGateway = file.path.startsWith("gateway/");
        const tooFar = fromGateway && target.startsWith("src/") && !GATEWAY_SEES.includes(partOf(target));
        const library = /^(discord\.js|@discordjs\/)/.test(target) && !file.path.startsWith("gateway/discord/");
        return tooFar || library ? [`${file.path}:${line} must not import ${target}`] : [];
      }),
    );
}

/** Whoever reads `process.env` outside the few places that read settings. */
export function environmentReaders(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !isTestFile(file.path) && !READS_ENVIRONMENT.test(file.path))
    .filter((file) => /\bprocess\.env\b/.test(withoutComments(file)))
    .map((file) => `${file.path} reads process.env`);
}

function withoutComments(file: SourceFile): string {
  return file.text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

/** Rings of files that need each other, each named once. A type that is needed counts: who reads one must read all. */
export function cycles(files: readonly SourceFile[]): string[] {
  const imports = new Map(files.map((file) => [file.path, file.imports.map(({ target }) => target)]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) found.push([...trail.slice(start), path].join(" → "));
    if (start !== -1 || done.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

/** Product files that no program leads to. */
export function deadFiles(files: readonly SourceFile[], entries: readonly string[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const alive = new Set<string>();
  const visit = (path: string): void => {
    const file = byPath.get(path);
    if (file === undefined || alive.has(path)) return;
    alive.add(path);
    for (const { target } of file.imports) visit(target);
    for (const target of file.mentions) visit(target);
  };
  for (const entry of entries) visit(entry);
  return files.map((file) => file.path).filter((path) => !alive.has(path) && !isTestFile(path));
}
