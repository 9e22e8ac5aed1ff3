import type { Catalog } from "../catalog/catalog.ts";
import type { RegisteredTool } from "../catalog/registered_tool.ts";
import { nearestNames } from "../lib/nearest.ts";
import type { KeptCall } from "../contracts/store.ts";
import type { PrepareContext } from "../contracts/tool.ts";
import { sha256 } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { ApprovalItem } from "../protocol/approval.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ToolCall } from "../protocol/message.ts";
import type { WorkstreamKind } from "../protocol/workstream.ts";
import { parseArguments } from "./arguments.ts";
import { decide, type PolicyInputs } from "./policy.ts";

/** A call after preparation: what people see, and what execution works from. */
export interface PreparedCall {
  item: ApprovalItem;
  kept: KeptCall;
}

/** Headers are one line of this many characters at most; the preview holds the rest. */
const HEADER_LENGTH_MAX = 200;

/**
 * Prepares each call of a batch, in the order asked. Nothing here has a side effect, and no call can harm another:
 * whatever goes wrong with one becomes that call's own error.
 */
export async function prepareCalls(
  calls: readonly ToolCall[],
  kind: WorkstreamKind,
  catalog: Catalog,
  context: PrepareContext,
  policy: PolicyInputs,
  log: Log,
): Promise<PreparedCall[]> {
  const prepared: PreparedCall[] = [];
  for (const call of calls) prepared.push(await prepareCall(call, kind, catalog, context, policy, log));
  return prepared;
}

async function prepareCall(
  call: ToolCall,
  kind: WorkstreamKind,
  catalog: Catalog,
  context: PrepareContext,
  policy: PolicyInputs,
  log: Log,
): Promise<PreparedCall> {
  const name = call.name.trim();
  const entry = catalog.find(name);
  if (entry === undefined || !catalog.allows(kind, name)) return settled(call, unknownTool(name, kind, catalog));
  try {
    const parsed = await parseArguments(call.arguments, entry);
    if (!parsed.ok) return settled(call, parsed.error);
    return await prepareWith(call, entry, parsed.args, parsed.rescued, context, policy);
  } catch (error) {
    log.error("tool.prepare_failed", { call_id: call.id, name, error });
    return settled(call, `Preparing ${name} failed inside the server; the call was not run. Try it another way.`);
  }
}

function unknownTool(name: string, kind: WorkstreamKind, catalog: Catalog): string {
  const shown = name.slice(0, 80) || "(no name)";
  const names = catalog.names(kind);
  if (kind !== "main" && catalog.find(name) !== undefined) {
    return `A sub-agent cannot use ${shown}. It can use: ${names.join(", ")}.`;
  }
  const near = nearestNames(name, names);
  return near.length > 0
    ? `There is no tool named ${shown}. Did you mean ${near.join(" or ")}? Available: ${names.slice(0, 40).join(", ")}.`
    : `There is no tool named ${shown}. Available: ${names.slice(0, 40).join(", ")}.`;
}

async function prepareWith(
  call: ToolCall,
  entry: RegisteredTool,
  args: JsonObject,
  rescued: boolean,
  context: PrepareContext,
  policy: PolicyInputs,
): Promise<PreparedCall> {
  const { name, primary_key } = entry.definition;
  const preparation = await entry.tool.prepare(args, context);
  if (!preparation.ok) return settled(call, preparation.error);
  const subject = preparation.subject ?? subjectOf(args[primary_key]);
  const approval_label = preparation.approval_label ?? name;
  const { effect, needs_approval } = preparation;
  const verdict = decide({ name, approval_label, subject, effect, needs_approval, rescued }, policy);
  if (verdict.verdict === "deny") return settled(call, verdict.error, true);
  const asked = verdict.verdict === "ask";
  const header = preparation.header.replace(/\s+/g, " ");
  // What does not fit into the header, such as where a long path leads, is part of what a person decides about.
  const shown = header.length > HEADER_LENGTH_MAX ? [header, preparation.preview] : [preparation.preview];
  const notes = [
    ...(preparation.notes ?? []),
    ...(rescued ? ["The arguments were mended; this is what would run."] : []),
  ];
  return {
    item: {
      call_id: call.id,
      header: header.slice(0, HEADER_LENGTH_MAX),
      preview: shown.filter((text) => text !== "").join("\n\n"),
      func_name: name,
      approval_label,
      needs_approval: asked,
      error: null,
      ...(notes.length === 0 ? {} : { notes }),
      ...(preparation.destructive === true ? { destructive: true } : {}),
    },
    kept: {
      call_id: call.id,
      name,
      plan: preparation.plan,
      effect,
      resources: preparation.resources ?? [],
      hash: sha256(JSON.stringify([name, args, preparation.preview, preparation.plan])),
      needs_approval: asked,
      ...(verdict.verdict === "ask" && verdict.person_only ? { person_only: true } : {}),
      subject,
      approval_label,
    },
  };
}

function subjectOf(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function settled(call: ToolCall, error: string, denied = false): PreparedCall {
  const name = call.name.trim().slice(0, 80);
  const common = { call_id: call.id, needs_approval: false, approval_label: name, error };
  return {
    item: { ...common, header: `${name || "unknown tool"}: cannot run`, preview: "", func_name: name },
    kept: {
      ...common,
      name,
      effect: "none",
      resources: [],
      hash: "",
      subject: "",
      ...(denied ? { denied: true } : {}),
    },
  };
}
