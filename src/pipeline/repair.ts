import { jsonrepair } from "jsonrepair";
import { isJsonObject, type JsonObject } from "../protocol/json.ts";

/**
 * Mends a JSON object that a model wrote carelessly (single quotes, bare keys, trailing commas, line breaks in
 * strings, a code fence around it). Answers null unless all of the text was understood: nothing that carries meaning
 * may be added, dropped or changed, and a text that stops early is never finished for its author.
 */
export function repairObject(text: string): JsonObject | null {
  const source = withoutFence(text);
  if (!source.endsWith("}") || !isClosed(source)) return null;
  try {
    const repaired = jsonrepair(source);
    const value: unknown = JSON.parse(repaired);
    return isJsonObject(value) && meaning(source) === meaning(repaired) ? value : null;
  } catch {
    // Beyond repair: the caller refuses the call with the parser's own words.
    return null;
  }
}

function withoutFence(text: string): string {
  const fenced = /^```[a-z]*\s*\n([\s\S]*?)\n?```$/i.exec(text.trim());
  return (fenced?.[1] ?? text).trim();
}

/** Each bracket that opens outside a string closes, and no string is left open. */
function isClosed(text: string): boolean {
  const open: string[] = [];
  let quote: string | null = null;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (quote !== null) {
      if (character === "\\") index += 1;
      else if (character === quote) quote = null;
    } else if (character === '"' || character === "'") quote = character;
    else if (character === "{" || character === "[") open.push(character === "{" ? "}" : "]");
    else if ((character === "}" || character === "]") && open.pop() !== character) return false;
  }
  return quote === null && open.length === 0;
}

/**
 * What must be the same before and after: every character but white space, quotes, commas and the escapes of line
 * breaks and quotes. A lost backslash, a doubled word or a guessed bracket shows here.
 */
function meaning(text: string): string {
  return text
    .replace(/\\[ntr"']/g, "")
    .replace(/\b(?:True|true)\b/g, "true")
    .replace(/\b(?:False|false)\b/g, "false")
    .replace(/\b(?:None|null|undefined)\b/g, "null")
    .replace(/[\s"'`,]/g, "");
}
