import { array, assert, constantFrom, nat, property } from "fast-check";
import { expect, test } from "vitest";
import { ThinkTags } from "./think_tags.ts";

function split(chunks: readonly string[]): { content: string; reasoning: string } {
  const result = { content: "", reasoning: "" };
  const tags = new ThinkTags({
    content: (text) => (result.content += text),
    reasoning: (text) => (result.reasoning += text),
  });
  for (const chunk of chunks) tags.push(chunk);
  tags.flush();
  return result;
}

test.each([
  [["<think>a</think>b"], "a", "b"],
  [["\n<thinking>a", "</thin", "king>\n\nb"], "a", "b"],
  [["<think>a</think><think>c</think>b"], "ac", "b"],
  [["<th"], "", "<th"],
  [["<thirsty> people"], "", "<thirsty> people"],
  [["<think>never closed </thi"], "never closed </thi", ""],
  [["The tag <think> is", " quoted</think> here"], "", "The tag <think> is quoted</think> here"],
  [["`<think>` opens"], "", "`<think>` opens"],
  [["  \n"], "", ""],
  [["<think>a</think>", "\n\n", "b"], "a", "b"],
])("%j", (chunks, reasoning, content) => {
  expect(split(chunks)).toEqual({ reasoning, content });
});

test("how a text is cut into chunks makes no difference (PROV-08)", () => {
  const piece = constantFrom(
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<",
    "th",
    "ink>",
    "/",
    " ",
    "\n",
    "word",
    "🦀",
  );
  assert(
    property(array(piece), array(nat(8)), (pieces, cuts) => {
      const text = pieces.join("");
      const chunks: string[] = [];
      let start = 0;
      for (const cut of cuts) {
        chunks.push(text.slice(start, start + cut));
        start += cut;
      }
      chunks.push(text.slice(start));
      expect(split(chunks)).toEqual(split([text]));
    }),
    { numRuns: 500 },
  );
});
