import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REQUIREMENTS } from "./requirements.ts";
import { readSources, ROOT } from "./structure/source.ts";

/** What no test cites yet, and why. This list only ever gets shorter. */
const UNCITED: Readonly<Record<string, string>> = {
  "REQ-ENGINE-024": "its test is being written beside src/agent/compaction.ts",
  "REQ-ENGINE-025": "rewind and retry are tested by HTTP refusals alone",
};

const OWN_FILES = ["test/requirements.ts", "test/requirements.test.ts"];

const ids = REQUIREMENTS.map(({ id }) => id);
const citations = readSources(["src", "gateway", "test"])
  .filter(({ path }) => path.endsWith(".test.ts") && !OWN_FILES.includes(path))
  .flatMap(({ path, text }) => citationsIn(text).map((id) => ({ path, id })));
const cited = new Set(citations.map(({ id }) => id));

test("each requirement has an id of its own, one sentence, and a page that people can read", () => {
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, text, page } of REQUIREMENTS) {
    expect(id).toMatch(/^REQ-[A-Z]+-\d{3}$/);
    expect(text, id).toMatch(/^\S.*[^.]\.$/);
    expect(existsSync(join(ROOT, page)), page).toBe(true);
  }
});

test("each requirement is cited by a test", () => {
  expect(ids.filter((id) => !cited.has(id) && !Object.hasOwn(UNCITED, id))).toEqual([]);
});

test("what a test cites is a requirement that there is", () => {
  const strange = citations.filter(({ id }) => !ids.includes(id));
  expect(strange.map(({ path, id }) => `${path} cites ${id}`)).toEqual([]);
});

test("the list of what is not cited holds nothing that is, or that is no requirement", () => {
  expect(Object.keys(UNCITED).filter((id) => cited.has(id) || !ids.includes(id))).toEqual([]);
  for (const [id, reason] of Object.entries(UNCITED)) expect(reason.length, id).toBeGreaterThan(20);
});

test("a citation is found in a title and in a comment, and a longer number is none", () => {
  const [first, second] = ["TOOL-001", "STORE-002"].map((rest) => `REQ-${rest}`);
  const text = `// ${first}\ntest("x (FILE-02, ${second})", f);\ntest("y (${first}1)", f);`;
  expect(citationsIn(text)).toEqual([first, second]);
});

function citationsIn(text: string): string[] {
  return [...text.matchAll(/\bREQ-[A-Z]+-\d{3}\b/g)].map(([id]) => id);
}
