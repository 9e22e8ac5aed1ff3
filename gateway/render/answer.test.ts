import { expect, test } from "vitest";
import type { StatusEvent } from "../../src/protocol/event.ts";
import { answerViews, growingViews } from "./answer.ts";
import { footer } from "./figures.ts";
import { threadName } from "./thread_name.ts";

const decoder = new TextDecoder();

test("a short answer is one message with its footer", () => {
  expect(answerViews("Hello.", "-# m · 1 s")).toEqual([{ kind: "text", text: "Hello.\n-# m · 1 s", files: [] }]);
});

test("a table is aligned; a wide one becomes a file (REQ-DISCORD-024)", () => {
  const [narrow] = answerViews("| a | long name |\n|---|:-:|\n| **1** | x\\|y |\n\nafter", null);
  expect(narrow?.text).toBe("```\na  long name\n─  ─────────\n1  x|y\n```\n\nafter");
  const [numbers] = answerViews("| boat | price |\n|---|---:|\n| a | 300 |\n| b | 42,000 |", null);
  expect(numbers?.text).toBe("```\nboat   price\n────  ──────\na        300\nb     42,000\n```");
  const [wide] = answerViews(`| a | b |\n|---|---|\n| ${"x".repeat(60)} | ${"y".repeat(60)} |`, null);
  expect(wide?.text).toContain("table-1.txt");
  expect(decoder.decode(wide?.files[0]?.bytes)).toContain("y".repeat(60));
});

test("code over 60 lines is a file with the right extension", () => {
  const code = Array.from({ length: 61 }, (_unused, index) => `line ${index}`).join("\n");
  const [view] = answerViews(`Here:\n\`\`\`python\n${code}\n\`\`\`\nDone.`, null);
  expect(view?.text).toBe("Here:\n-# 📎 code-1.py (61 lines)\nDone.");
  expect(view?.files[0]?.name).toBe("code-1.py");
  expect(decoder.decode(view?.files[0]?.bytes)).toBe(`${code}\n`);
});

test("a very long answer is its beginning and the whole as a file (DREN-16)", () => {
  const text = "A sentence that goes on. ".repeat(2400);
  const views = answerViews(text, "-# f");
  expect(views).toHaveLength(1);
  expect(views[0]?.text.length).toBeLessThanOrEqual(2000);
  expect(decoder.decode(views[0]?.files[0]?.bytes)).toBe(text);
  expect(growingViews(text)).toHaveLength(4);
  const chapters = `## Chapter\n\n${"word ".repeat(40)}\n\n`.repeat(60);
  for (let length = 0; length < 250; length += 10) {
    const [view] = answerViews("x".repeat(length) + "\n\n" + chapters, null);
    expect(view?.text).not.toMatch(/## Chapter\s*-# The beginning/);
  }
});

test("tilde fences and nested fences come out in backticks, whole (DREN-04)", () => {
  expect(answerViews("~~~js\n1\n~~~", null)[0]?.text).toBe("```js\n1\n```");
  const [nested] = answerViews("````md\n```\ninner\n```\n````\nafter", null);
  expect(nested?.text.match(/```/g)).toHaveLength(2);
});

test("blank answers give no message (DREN-06)", () => {
  for (const text of ["", "  \n", "\u200b"]) {
    expect(answerViews(text, "-# f")).toEqual([]);
    expect(growingViews(text)).toEqual([]);
  }
});

test("the footer says model, time, tokens, context and cost", () => {
  const status: StatusEvent = {
    type: "status",
    prompt_tokens: 3000,
    completion_tokens: 100,
    total_tokens: 3100,
    context_window: 22_000,
    pct: 14.1,
    effort: "",
    model_alias: "fast",
    duration_ms: 12_300,
    cost_usd: 0.021,
  };
  expect(footer({ ...status, model: "quick-3" })).toContain("-# quick-3 · ");
  expect(footer(status)).toBe("-# fast · 12 s · 3.1k tokens · context 14 % · $0.02");
});

test("a thread's name is valid whatever was written (DEVT-14)", () => {
  expect(threadName("**Fix** the `build`\nplease")).toBe("Fix the build");
  expect(threadName(" \n\u200b\n")).toBe("New conversation");
  expect(threadName("<@123>")).toBe("New conversation");
  const long = threadName(`${"a".repeat(98)}😀😀😀`);
  expect(long.length).toBeLessThanOrEqual(100);
  expect(long.isWellFormed()).toBe(true);
});
