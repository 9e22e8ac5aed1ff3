import { prepareCalls, type PreparedCall } from "../pipeline/prepare.ts";
import { newPrefixedId } from "../lib/ids.ts";
import { textOf, type ToolCall } from "../protocol/message.ts";
import type { KeptEvent } from "../protocol/event.ts";
import type { TurnOutcome } from "../protocol/workstream.ts";
import { runBatch } from "./batch.ts";
import { compactIfNeeded, reasonForOverflow, type CompactionOutcome } from "./compaction.ts";
import { callModels, type ModelAnswer, type ModelCallResult } from "./model_call.ts";
import { nextAction, type TurnProgress } from "./projection.ts";
import { requestBuilder } from "./request.ts";
import { usageChange } from "./usage.ts";
import { TurnAborted, type Draft, type TurnDependencies, type TurnPort } from "./turn_port.ts";

/** Model calls of one turn; a loop beyond it is a runaway, and the person says whether to go on. */
export const MODEL_CALLS_PER_TURN_MAX = 200;

/** Compactions of one turn because a provider says the conversation is too long; more would never end. */
const OVERFLOW_COMPACTIONS_MAX = 1;

/** Summaries of one turn that may fail; a model that gives none is not asked before each of its calls. */
const FAILED_COMPACTIONS_MAX = 2;

/** What a turn has tried so far to make its conversation fit. */
interface Attempts {
  overflow_compactions: number;
  failed_compactions: number;
}

/**
 * Carries an open turn to its end, from wherever its journal says it stands: the same loop runs a fresh turn and one
 * that a crash interrupted. Rejects with the signal's reason when it is aborted.
 */
export async function runTurn(port: TurnPort, dependencies: TurnDependencies): Promise<void> {
  const attempts: Attempts = { overflow_compactions: 0, failed_compactions: 0 };
  for (;;) {
    const { turn } = port.conversation;
    if (turn === null) return;
    port.signal.throwIfAborted();
    if (port.stopping()) throw new TurnAborted("shutdown");
    const action = nextAction(turn);
    switch (action.kind) {
      case "call_model": {
        await port.joinQueued();
        if (await endedByLimit(port, turn, dependencies)) return;
        await think(port, turn, attempts, dependencies);
        break;
      }
      case "prepare":
        await port.append(await prepareDraft(port, action.calls, dependencies));
        break;
      case "wait":
        port.setState("attention");
        await port.decided(action.cycle_id);
        break;
      case "execute":
        await runBatch(port, turn, action.batch, action.calls, dependencies);
        break;
      case "finish":
        if (!(await port.joinQueued())) await finish(port, turn, action.stop_reason);
        break;
    }
  }
}

/**
 * One model call, with the conversation made to fit before it, and once more when the provider says that it does not.
 */
async function think(
  port: TurnPort,
  turn: TurnProgress,
  attempts: Attempts,
  dependencies: TurnDependencies,
): Promise<void> {
  if ((await compactInTurn(port, attempts, dependencies, false)) === "hopeless") {
    return endOverflown(port, turn, dependencies);
  }
  const result = await callModel(port, turn, dependencies);
  if (result.ok) return takeAnswer(port, result.answer, dependencies);
  if (result.failure.code !== "model_context_overflow") return endFailed(port, result);
  if (attempts.overflow_compactions < OVERFLOW_COMPACTIONS_MAX) {
    attempts.overflow_compactions += 1;
    if ((await compactInTurn(port, attempts, dependencies, true)) === "compacted") return;
  }
  return endOverflown(port, turn, dependencies);
}

async function compactInTurn(
  port: TurnPort,
  attempts: Attempts,
  dependencies: TurnDependencies,
  forced: boolean,
): Promise<CompactionOutcome> {
  if (attempts.failed_compactions >= FAILED_COMPACTIONS_MAX) return "failed";
  const outcome = await compactIfNeeded(port, dependencies, forced);
  if (outcome === "failed") {
    attempts.failed_compactions += 1;
    port.note("The conversation is long, but summarising it failed; it stays as it is.");
  }
  return outcome;
}

async function endedByLimit(port: TurnPort, turn: TurnProgress, dependencies: TurnDependencies): Promise<boolean> {
  const limit = port.workstream.kind === "main" ? MODEL_CALLS_PER_TURN_MAX : dependencies.agent_max_turns;
  if (turn.model_calls < limit) return false;
  if (isLastCall(port, turn, dependencies)) {
    await askForLastWords(port, limit);
    return false;
  }
  const message = `This turn has called the model ${limit} times, which is the limit; say "continue" to go on.`;
  await endTurn(port, turn, "limit", [{ type: "error", message, code: "turn_limit" }]);
  return true;
}

/** A sub-agent at its limit gets one more call without tools, so that its work is reported and not lost. */
function isLastCall(port: TurnPort, turn: TurnProgress, dependencies: TurnDependencies): boolean {
  return port.workstream.kind !== "main" && turn.model_calls === dependencies.agent_max_turns;
}

async function askForLastWords(port: TurnPort, limit: number): Promise<void> {
  const content = `You have made ${limit} model calls, which is the limit, and can use no more tools. Answer now with what you have done and found, and say what is still open.`;
  const last = port.conversation.messages.at(-1);
  const is_asked = last?.role === "user" && textOf(last.content) === content;
  if (!is_asked) {
    await port.append({ entries: [{ event: { type: "user_turn", content, source: "server", client_send_ids: [] } }] });
  }
}

async function callModel(port: TurnPort, turn: TurnProgress, dependencies: TurnDependencies): Promise<ModelCallResult> {
  const chain = port.models();
  const with_tools = !isLastCall(port, turn, dependencies);
  const build = await requestBuilder(port, dependencies.catalog, dependencies.loadAttachment, with_tools);
  const model_call_id = `${turn.turn_seq}.${turn.model_calls + 1}`;
  port.setState("thinking");
  port.emit({ type: "thinking_start", model_call_id, model_alias: chain[0]?.alias ?? "" });
  port.setStream({ model_call_id, content: "", reasoning: "" });
  let thinking = true;
  const redactors = { content: dependencies.redactStream(), reasoning: dependencies.redactStream() };
  const shown = (kind: "content" | "reasoning", text: string): void => {
    if (text === "") return;
    if (thinking) port.emit({ type: "thinking_stop" });
    thinking = false;
    port.delta(kind, text);
  };
  try {
    return await callModels(
      chain,
      build,
      {
        content: (text) => shown("content", redactors.content.push(text)),
        reasoning: (text) => shown("reasoning", redactors.reasoning.push(text)),
        info: (message) => port.note(message),
        restarted(message) {
          redactors.content.end();
          redactors.reasoning.end();
          port.setStream({ model_call_id, content: "", reasoning: "" });
          port.emit({ type: "stream_restart", message });
        },
      },
      port.signal,
      dependencies,
    );
  } finally {
    shown("reasoning", redactors.reasoning.end());
    shown("content", redactors.content.end());
    if (thinking) port.emit({ type: "thinking_stop" });
    port.emit({ type: "stream_end" });
  }
}

/** Writes the answer and, when it asks for tools, what they would do: one step. */
async function takeAnswer(port: TurnPort, answer: ModelAnswer, dependencies: TurnDependencies): Promise<void> {
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
async function prepareDraft(
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

async function endFailed(port: TurnPort, result: Extract<ModelCallResult, { ok: false }>): Promise<void> {
  const { turn } = port.conversation;
  if (turn === null) return;
  const { code, message, retry_after_ms } = result.failure;
  const retry_at =
    retry_after_ms === undefined ? {} : { retry_at: new Date(Date.parse(port.now()) + retry_after_ms).toISOString() };
  await endTurn(port, turn, "failed", [{ type: "error", message, code, ...retry_at }]);
}

async function endOverflown(port: TurnPort, turn: TurnProgress, dependencies: TurnDependencies): Promise<void> {
  const message = await reasonForOverflow(port, dependencies);
  await endTurn(port, turn, "failed", [{ type: "error", message, code: "model_context_overflow" }]);
}

async function finish(port: TurnPort, turn: TurnProgress, stop_reason: string): Promise<void> {
  const last = port.conversation.messages.at(-1);
  const empty = last?.role === "assistant" && last.content.trim() === "";
  switch (stop_reason) {
    case "length":
      return endTurn(port, turn, "limit", [
        {
          type: "error",
          code: "model_cut",
          message: 'The answer reached the model\'s output limit and was cut; say "continue" to get the rest.',
        },
      ]);
    case "content_filter":
      return endTurn(port, turn, "failed", [
        {
          type: "error",
          code: "model_content_filter",
          message: "The provider's content filter stopped the answer; put the request in other words.",
        },
      ]);
    case "refusal":
      return endTurn(port, turn, "done", [
        {
          type: "error",
          code: "model_refused",
          message: "The model refused to answer this; put the request in other words or choose another model.",
        },
      ]);
    default:
      if (!empty) return endTurn(port, turn, "done", []);
      return endTurn(port, turn, "failed", [
        {
          type: "error",
          code: "model_empty",
          message: "The model gave an empty answer; try again or put the request in other words.",
        },
      ]);
  }
}

/** Closes the turn: what it used, how it ended, in one step. */
export async function endTurn(
  port: TurnPort,
  turn: TurnProgress,
  outcome: TurnOutcome,
  before: KeptEvent[],
): Promise<void> {
  const status = port.status(turn);
  await port.append({
    entries: [...before, ...(status === null ? [] : [status]), { type: "turn_ended" as const, outcome }].map(
      (event) => ({ event }),
    ),
    state: outcome === "failed" ? "error" : "idle",
    turn_open: false,
  });
  port.setStream(null);
}
