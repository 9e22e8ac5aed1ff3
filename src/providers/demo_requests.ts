import type { JsonObject } from "../protocol/json.ts";

/** A call that the demo makes. */
export interface DemoStep {
  tool: string;
  arguments: JsonObject;
}

/** Something that the demo understands: how it is said, and the calls that follow, one after the other. */
export interface DemoRequest {
  pattern: RegExp;
  /** Groups of the pattern, trimmed; a group that did not match is empty. */
  steps(groups: readonly string[]): DemoStep[];
}

const FILE = "[`\"']?([\\w./-]*\\w\\.\\w+)[`\"']?";
const QUOTED = "[`\"']([^`\"']+)[`\"']";

/** The first that matches counts, so what is more special stands first. */
export const DEMO_REQUESTS: readonly DemoRequest[] = [
  {
    pattern: /\b(?:run|execute)\s*:?\s+`([^`]+)`/i,
    steps: ([command = ""]) => [{ tool: "bash", arguments: { command } }],
  },
  {
    pattern: new RegExp(`\\breplace\\s+${QUOTED}\\s+(?:with|by)\\s+${QUOTED}\\s+in\\s+(?:the file\\s+)?${FILE}`, "i"),
    steps: ([old_string = "", new_string = "", path = ""]) => [
      { tool: "read_file", arguments: { path } },
      { tool: "edit_file", arguments: { path, old_string, new_string } },
    ],
  },
  {
    pattern: new RegExp(
      `\\b(?:write|create|save)\\s+(?:(?:a|the) file )?(?:called |named )?${FILE}` +
        "(?:\\s+(?:with|saying|containing)\\s+|\\s*:\\s*)([\\s\\S]+)",
      "i",
    ),
    steps: ([path = "", content = ""]) => [{ tool: "write_file", arguments: { path, content: `${content}\n` } }],
  },
  {
    pattern: /\b(?:list|show|which|what)\b.{0,20}\bfiles\b/i,
    steps: () => [{ tool: "bash", arguments: { command: "ls -la" } }],
  },
  {
    pattern: new RegExp(`\\b(?:read|show|open|print)\\s+(?:me\\s+)?(?:the file\\s+)?${FILE}`, "i"),
    steps: ([path = ""]) => [{ tool: "read_file", arguments: { path } }],
  },
  {
    pattern: /\bsearch (?:the )?(?:web|internet) for\s+(.+)/i,
    steps: ([query = ""]) => [{ tool: "web_search", arguments: { query } }],
  },
  {
    pattern: /\b(?:search|look|grep) for\s+(.+)/i,
    steps: ([words = ""]) => [
      { tool: "search", arguments: { query: literal(words.replace(/^[`"']|[`"'?.]+$/g, "")) } },
    ],
  },
  {
    pattern: /(https?:\/\/[^\s<>"'`]+)/i,
    steps: ([url = ""]) => [{ tool: "web_fetch", arguments: { url, question: "What does this page say, in short?" } }],
  },
  {
    pattern: /\bremember\s+(?:that\s+)?(.+?)\s+(?:is|are|=)\s+(.+)/i,
    steps: ([key = "", value = ""]) => [{ tool: "remember", arguments: { key, value } }],
  },
  { pattern: /\bwhat do you (?:remember|know)\b/i, steps: () => [{ tool: "recall", arguments: {} }] },
  { pattern: /\bforget\s+(?:about\s+)?(.+)/i, steps: ([key = ""]) => [{ tool: "forget", arguments: { key } }] },
  {
    pattern: /\bnotify\s+@?([\w.-]+)\s*(?:that|:|,)?\s+(.+)/i,
    steps: ([username = "", message = ""]) => [{ tool: "notify", arguments: { username, message } }],
  },
  { pattern: /\bplan\s*:?\s+(.+)/i, steps: ([prompt = ""]) => [{ tool: "plan", arguments: { prompt } }] },
  { pattern: /\bdelegate\s*:?\s+(.+)/i, steps: ([prompt = ""]) => [{ tool: "task", arguments: { prompt } }] },
  {
    pattern: /(?:^man|\bman(?:ual)? page(?: of| for)?|\bmanual (?:of|for))\s+([\w.+-]+)/i,
    steps: ([page = ""]) => [{ tool: "man", arguments: { page } }],
  },
  {
    pattern: /\b(integrate|differentiate|solve|factor|simplify)\s+([\w\s+*/().^,-]+)/i,
    steps: ([verb = "", expression = ""]) => [
      { tool: "math", arguments: { code: mathCode(verb.toLowerCase(), python(expression)) } },
    ],
  },
  {
    pattern: /\b(?:what is|what's|calculate|compute)\s+([\d\s+*/().^%-]*\d[\d\s+*/().^%-]*)/i,
    steps: ([expression = ""]) => [{ tool: "math", arguments: { code: `print(${python(expression)})` } }],
  },
];

/** What a person may say, for the demo's own help. */
export const DEMO_EXAMPLES: readonly string[] = [
  "list the files",
  "run `uname -a`",
  "write hello.txt: Hello!",
  "read hello.txt",
  'replace "Hello" with "Good evening" in hello.txt',
  "search for Hello",
  "what is 2**100",
  "integrate x*sin(x)",
  "remember that my favourite colour is green",
  "what do you remember?",
  "plan a small web site",
  "notify NAME: lunch is ready",
  "fetch https://example.com",
];

function literal(words: string): string {
  return words.trim().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function python(expression: string): string {
  return expression
    .trim()
    .replaceAll("^", "**")
    .replace(/[.,]+$/, "");
}

function mathCode(verb: string, expression: string): string {
  const name = verb === "differentiate" ? "diff" : verb;
  const of = verb === "factor" || verb === "simplify" ? "" : ", x";
  return `x = symbols("x")\nprint(${name}(${expression}${of}))`;
}
