import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import { createSpawner } from "../lib/spawn.ts";
import type { JsonObject } from "../protocol/json.ts";
import { createMan, type ManOptions } from "./man.ts";

const path = { PATH: "/usr/local/bin:/usr/bin:/bin" };
const spawner = createSpawner({ env: path });
afterAll(() => spawner.close());

let bench: ToolBench;
let env: Record<string, string>;
beforeEach(() => {
  bench = toolBench({ spawner });
  for (const section of ["1", "3"]) {
    mkdirSync(bench.path(`man${section}`));
    writeFileSync(
      bench.path(`man${section}`, `stone.${section}`),
      `.TH STONE ${section}\n.SH NAME\nstone \\- turn in section ${section}\n` +
        `.SH DESCRIPTION\n.B bold\nand\n.I slanted\n${"word ".repeat(40)}\n`,
    );
  }
  writeFileSync(bench.path("man3", "stone.3pm"), ".TH STONE 3pm\n.SH NAME\nstone \\- for Perl\n");
  env = { ...path, MANPATH: bench.root, MANOPT: "--where", LANG: "C.UTF-8" };
});
afterEach(() => bench.remove());

async function man(args: JsonObject, options: Partial<ManOptions> = {}): Promise<string> {
  const result = await bench.call(createMan({ env, ...options }), args);
  return result.prepared ? result.output : `refused: ${result.error}`;
}

test("a page is plain text of 80 columns, without overstrikes or options from outside (REQ-TOOL-022)", async () => {
  const text = await man({ page: "stone" });
  expect(text).toMatch(/NAME\n +stone - turn in section 1\n/);
  expect(text).toContain("bold and slanted word");
  for (const control of ["\b", "\u001b"]) expect(text).not.toContain(control);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});

test("a name may carry its section, and an explicit one counts more (CALC-05)", async () => {
  expect(await man({ page: "stone(3)" })).toContain("turn in section 3");
  expect(await man({ page: "stone(3pm)" })).toContain("for Perl");
  expect(await man({ page: "stone(3)", section: "1" })).toContain("turn in section 1");
});

test.each(["-k", "-P/bin/sh", "../../etc/passwd", "/etc/passwd", "a b", "$(id)", "", "--help(1)"])(
  "%s reaches no program (CALC-06)",
  async (page) => expect(await man({ page })).toMatch(/^refused: .*cannot be a page's name/),
);

test("a section that is none is an error, not ignored", async () => {
  expect(await man({ page: "stone", section: "-k" })).toMatch(/^refused: .*is no section/);
  expect(await man({ page: "stone(x y)" })).toMatch(/^refused: .*is no section/);
});

test("a page that is not there says so", async () => {
  expect(await man({ page: "no-such-stone" })).toBe("There is no manual page no-such-stone on this machine.");
  expect(await man({ page: "stone", section: "5" })).toBe(
    "There is no manual page stone(5) on this machine. Try it without the section.",
  );
});

test("without a manual --help is asked of allowed programs only", async () => {
  env = { PATH: bench.root };
  expect(await man({ page: "node" })).toContain("the program man is missing");
  writeFileSync(bench.path("stone-help"), "#!/bin/sh\necho usage: $0 $1\n", { mode: 0o755 });
  expect(await man({ page: "stone-help" })).toContain("the program man is missing");
  expect(await man({ page: "stone-help" }, { help_programs: ["stone-help"] })).toMatch(/^usage: .*stone-help --help/);
});

test("nobody is asked", async () => {
  expect(await createMan({ env }).prepare({ page: "grep" }, bench.context)).toMatchObject({
    needs_approval: false,
    effect: "none",
  });
});
