import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./structure/source.ts";

type Versions = Record<string, string>;

const content: { dependencies: Versions; devDependencies: Versions; optionalDependencies: Versions } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
const versions = { ...content.dependencies, ...content.devDependencies, ...content.optionalDependencies };

test("the page on dependencies gives a reason for each, and for no other", () => {
  const page = readFileSync(join(ROOT, "docs", "dependencies.md"), "utf8");
  const described = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
  expect(new Set(described)).toEqual(new Set(Object.keys(versions)));
});

test("versions are exact", () => {
  for (const [name, version] of Object.entries(versions)) expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
});
