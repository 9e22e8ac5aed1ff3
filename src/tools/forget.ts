import type { MemoryScope } from "../contracts/store.ts";
import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { textArgument } from "../lib/arguments.ts";
import { memoryKey } from "../lib/memory_text.ts";
import { visibleLine } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { GLOBAL_SCOPE_NOTE, memoryPlace } from "./memory_scope.ts";

interface ForgetPlan {
  scope: MemoryScope;
  owner: string;
  key: string;
}

/** Deletes a memory. */
export function forgetTool(): Tool {
  return { name: "forget", prepare, execute: (plan, context) => execute(asPlan(plan), context) };
}

function prepare(args: JsonObject, context: PrepareContext): Preparation {
  const given = textArgument(args, "key");
  if (!given.ok) return given;
  const key = memoryKey(given.value);
  if (!key.ok) return key;
  const place = memoryPlace(args, context);
  if (!place.ok) return place;
  const { scope, owner } = place;
  return {
    ok: true,
    plan: { scope, owner, key: key.text },
    header: `forget: ${visibleLine(key.text)} (${scope})`,
    preview: "",
    needs_approval: scope === "global",
    effect: "side_effect",
    resources: [`memory:${scope}:${owner}:${key.text}`],
    subject: key.text,
    ...(scope === "global" ? { approval_label: "forget_global", notes: [GLOBAL_SCOPE_NOTE], destructive: true } : {}),
  };
}

async function execute(plan: ForgetPlan, context: ToolContext): Promise<ToolOutput> {
  const { scope, owner, key } = plan;
  if (await context.memories.remove(scope, owner, key)) {
    return { output: `Forgot ${key} (${scope}).`, is_error: false, effect: "done" };
  }
  const output = `There is no memory ${key} in the scope ${scope}. recall without a query lists those there are.`;
  return { output, is_error: true, effect: "none" };
}

/** A plan comes back from the store: what it is was decided by `prepare`. */
function asPlan(plan: JsonValue): ForgetPlan {
  if (!isJsonObject(plan)) throw new Error("The plan of a forget call is not an object.");
  return plan as unknown as ForgetPlan;
}
