import type { ModelSettings } from "../contracts/provider.ts";
import type { KeptCall } from "../contracts/store.ts";
import { denialResult, executeCall, type CallResult } from "../pipeline/execute.ts";
import { runScheduled } from "../pipeline/schedule.ts";
import type { ToolCall } from "../protocol/message.ts";
import type { Batch, TurnProgress } from "./conversation.ts";
import { withRepeatNote } from "./repeats.ts";
import type { Draft, TurnDependencies, TurnPort } from "./turn_port.ts";

/**
 * Brings each open call of a decided batch to its one result. A call is written as started before it may have an
 * effect; one that is started already was interrupted by a crash and is taken up by the rules for that.
 */
export async function runBatch(
  port: TurnPort,
  turn: TurnProgress,
  batch: Batch,
  open: readonly ToolCall[],
  dependencies: TurnDependencies,
): Promise<void> {
  port.setState("running");
  const settings = port.models()[0];
  if (settings === undefined) throw new Error("A workstream always has a model.");
  const jobs = open.map((call) => {
    const kept = batch.calls.find((candidate) => candidate.call_id === call.id);
    if (kept === undefined) {
      throw new Error(`The batch of ${port.workstream.ws_id} does not hold its own call ${call.id}.`);
    }
    const decision = batch.decisions.get(call.id);
    const run = async (): Promise<() => Promise<void>> => {
      if (decision?.approved === false) {
        const denial = { by: decision.decided_by?.name ?? null, feedback: decision.feedback, reason: decision.reason };
        return () => port.append(resultDraft(denialResult(kept, denial)));
      }
      const started_seq = turn.started.get(kept.call_id);
      const is_new = kept.error === undefined && started_seq === undefined;
      const started = is_new ? port.append(startedDraft(kept)) : Promise.resolve();
      // What has no effect need not wait for the disk.
      if (kept.effect !== "none") await started;
      const interrupted = started_seq !== undefined && started_seq <= port.recovered_seq;
      const [begun, ran] = await Promise.allSettled([started, runOne(port, kept, settings, interrupted, dependencies)]);
      if (begun.status === "rejected") throw begun.reason;
      if (ran.status === "rejected") throw ran.reason;
      const { event } = ran.value;
      const told = { ...event, output: withRepeatNote(turn, call, event.output) };
      return () => port.appendResult(resultDraft({ ...ran.value, event: told }), kept.call_id);
    };
    return { resources: kept.resources, only_reads: kept.effect === "none", run };
  });
  try {
    await runScheduled(jobs);
  } finally {
    port.signal.throwIfAborted();
  }
}

async function runOne(
  port: TurnPort,
  kept: KeptCall,
  settings: ModelSettings,
  interrupted: boolean,
  dependencies: TurnDependencies,
): Promise<CallResult> {
  port.signal.throwIfAborted();
  const context = port.toolContext(kept.call_id, settings);
  return executeCall(kept, dependencies.catalog, context, dependencies.redact, interrupted);
}

function startedDraft({ call_id, name }: KeptCall): Draft {
  return { entries: [{ event: { type: "tool_started", call_id, name } }] };
}

function resultDraft(result: CallResult): Draft {
  return {
    entries: [
      ...(result.notification === undefined ? [] : [{ event: result.notification }]),
      { event: result.event, ...(result.private === undefined ? {} : { private: result.private }) },
    ],
  };
}
