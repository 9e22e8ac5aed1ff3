import type { Preparation } from "../contracts/tool.ts";
import { textArgument } from "../lib/arguments.ts";
import { visible, visibleLine } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";

/** Prepares a call that hands its prompt to a sub-agent: a person says yes to all of the prompt. */
export function prepareDelegation(name: "task" | "plan", args: JsonObject): Preparation {
  const given = textArgument(args, "prompt");
  if (!given.ok) return given;
  const prompt = given.value.trim().toWellFormed();
  if (prompt === "") return { ok: false, error: "prompt is empty. Say in it what the sub-agent is to do." };
  return {
    ok: true,
    plan: { prompt },
    header: `${name}: ${visibleLine(prompt)}`,
    preview: visible(prompt),
    needs_approval: true,
    effect: "side_effect",
    subject: prompt,
  };
}

/** The prompt of a kept plan: what it is was decided when it was prepared. */
export function promptIn(plan: JsonValue): string {
  const prompt = isJsonObject(plan) ? plan["prompt"] : undefined;
  if (typeof prompt !== "string") throw new Error("The plan of a sub-agent's call holds no prompt.");
  return prompt;
}
