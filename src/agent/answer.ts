import { newPrefixedId } from "../lib/ids.ts";
import { prepareCalls, type PreparedCall } from "../pipeline/prepare.ts";
import type { ToolCall } from "../protocol/message.ts";
import type { ModelAnswer } from "./model_call.ts";
import type { TurnProgress } from "./conversation.ts";
import { isLastCall } from "./turn_limit.ts";
import type { Draft, TurnDependencies, TurnPort } from "./turn_port.ts";
import { usageChange } from "./usage.ts";

/** Writes the answer and, when it asks for tools, what they would do: one step. */
export async function takeAnswer(port: TurnPort, answer: ModelAnswer, dependencies: TurnDependencies): Promise<void> {
  const { turn } = port.conversation;
  if (turn === null) throw new Error("A model's answer came to a turn that is over.");
  const may_call = answer.stop_reason === "tool_calls" && !isLastCall(port, turn, dependencies);
  const calls = may_call ? uniqueCalls(answer.calls, port) : [];
  const stop_reason = answer.stop_reason === "tool_calls" && calls.length === 0 ? "stop" : answer.stop_reason;
  const { redact } = dependencies;
  const said = { content: redact(answer.content), reasoning: redact(answer.reasoning) };
  const draft = answerDraft(port, turn, { ...answer, ...said, stop_reason }, calls);
  if (calls.length > 0) {
    const next = await prepareDraft(port, calls, dependencies);
    draft.entries.push(...next.entries);
    draft.changes = [...(draft.changes ?? []), ...(next.changes ?? [])];
    if (next.state !== undefined) draft.state = next.state;
  }
  await port.append(draft);
  port.setStream(null);
}

function answerDraft(port: TurnPort, turn: TurnProgress, answer: ModelAnswer, calls: ToolCall[]): Draft {
  const { settings, usage, replay, expanded_tools } = answer;
  return {
    entries: [
      {
        event: {
          type: "assistant",
          content: answer.content,
          ...(answer.reasoning === "" ? {} : { reasoning: answer.reasoning }),
          tool_calls: calls,
          usage,
          stop_reason: answer.stop_reason,
          model_call_id: `${turn.turn_seq}.${turn.model_calls + 1}`,
          model_alias: settings.alias,
        },
        private: {
          ...(replay === null ? {} : { replay }),
          ...(expanded_tools.length === 0 ? {} : { expanded_tools }),
        },
      },
    ],
    context_tokens: usage.total_tokens,
    changes: [usageChange(port.workstream, answer)],
  };
}

/**
 * Ids that a model repeats would pair a result with the wrong call; those get new ones. A sub-agent's calls are shown
 * among those of its parent and of its siblings, whose ids it does not know: all of them get new ones.
 */
function uniqueCalls(calls: readonly ToolCall[], { workstream, conversation }: TurnPort): ToolCall[] {
  const seen = new Set<string>();
  const is_known = (id: string): boolean => workstream.kind !== "main" || conversation.call_ids.has(id) || seen.has(id);
  return calls.map((call) => {
    const id = call.id === "" || is_known(call.id) ? newPrefixedId("call") : call.id;
    seen.add(id);
    return { ...call, id };
  });
}

/** What a batch would do, and whether someone is asked. */
export async function prepareDraft(
  port: TurnPort,
  calls: readonly ToolCall[],
  dependencies: TurnDependencies,
): Promise<Draft> {
  const settings = port.models()[0];
  if (settings === undefined) throw new Error("A workstream always has a model.");
  const { kind } = port.workstream;
  const context = port.prepareContext(settings);
  const prepared = await prepareCalls(
    calls,
    kind,
    dependencies.catalog,
    context,
    await port.policy(),
    dependencies.log,
  );
  const items = prepared.map(({ item }) => ({ ...item, header: dependencies.redact(item.header) }));
  const kept = { calls: prepared.map((call) => call.kept) };
  if (!items.some((item) => item.needs_approval)) {
    const started = startable(prepared);
    return { entries: [{ event: { type: "tool_info", items }, private: kept }, ...started], state: "running" };
  }
  const cycle_id = newPrefixedId("cycle");
  const expires_at = port.approvalExpiry();
  const { ws_id } = port.workstream;
  return {
    entries: [
      {
        event: { type: "approve_request", cycle_id, items, ...(expires_at === null ? {} : { expires_at }) },
        private: kept,
      },
    ],
    state: "attention",
    changes: [
      {
        kind: "approval_opened",
        approval: {
          cycle_id,
          ws_id,
          seq: 0,
          items,
          decisions: {},
          state: "pending",
          approved: null,
          decided_by: null,
          reason: null,
          decided: null,
          created: "",
          expires: expires_at,
        },
      },
    ],
  };
}

/**
 * Calls without side effects start in the very step that announces them; others get an entry of their own when their
 * time comes.
 */
function startable(prepared: readonly PreparedCall[]): Draft["entries"] {
  const alone = prepared.length === 1;
  return prepared
    .filter(({ kept }) => kept.error === undefined && (alone || kept.effect === "none"))
    .map(({ kept }) => ({ event: { type: "tool_started" as const, call_id: kept.call_id, name: kept.name } }));
}
