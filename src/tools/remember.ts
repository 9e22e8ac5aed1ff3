import type { MemoryScope } from "../contracts/store.ts";
import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { textArgument } from "../lib/arguments.ts";
import { timestamp } from "../lib/clock.ts";
import { memoryKey, memoryValue } from "../lib/memory_text.ts";
import { visible, visibleLine } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { GLOBAL_SCOPE_NOTE, memoryPlace } from "./memory_scope.ts";

/** Characters of the value before that the answer repeats, so that an overwriting by mistake can be undone. */
const PREVIOUS_LENGTH_MAX = 500;

interface RememberPlan {
  scope: MemoryScope;
  owner: string;
  key: string;
  value: string;
}

/** Saves a memory. */
export function rememberTool(): Tool {
  return { name: "remember", prepare, execute: (plan, context) => execute(asPlan(plan), context) };
}

function prepare(args: JsonObject, context: PrepareContext): Preparation {
  const given_key = textArgument(args, "key");
  if (!given_key.ok) return given_key;
  const key = memoryKey(given_key.value);
  if (!key.ok) return key;
  const given_value = textArgument(args, "value");
  if (!given_value.ok) return given_value;
  const value = memoryValue(given_value.value);
  if (!value.ok) return value;
  const place = memoryPlace(args, context);
  if (!place.ok) return place;
  const { scope, owner } = place;
  return {
    ok: true,
    plan: { scope, owner, key: key.text, value: value.text },
    header: `remember: ${visibleLine(key.text)} (${scope})`,
    preview: visible(value.text),
    needs_approval: scope === "global",
    effect: "side_effect",
    resources: [`memory:${scope}:${owner}:${key.text}`],
    subject: key.text,
    ...(scope === "global" ? { approval_label: "remember_global", notes: [GLOBAL_SCOPE_NOTE] } : {}),
  };
}

async function execute(plan: RememberPlan, context: ToolContext): Promise<ToolOutput> {
  const { previous } = await context.memories.save(plan, timestamp(context.clock));
  return { output: savedInWords(plan, previous), is_error: false, effect: "done" };
}

function savedInWords(plan: RememberPlan, previous: string | null): string {
  const name = `${plan.key} (${plan.scope})`;
  if (previous === null) return `Saved ${name}.`;
  if (previous === plan.value) return `${name} already had this value.`;
  const is_long = previous.length > PREVIOUS_LENGTH_MAX;
  const shown = is_long ? `${previous.slice(0, PREVIOUS_LENGTH_MAX).toWellFormed()}…` : previous;
  return `Updated ${name}. Before, it was: ${shown}`;
}

/** A plan comes back from the store: what it is was decided by `prepare`. */
function asPlan(plan: JsonValue): RememberPlan {
  if (!isJsonObject(plan)) throw new Error("The plan of a remember call is not an object.");
  return plan as unknown as RememberPlan;
}
