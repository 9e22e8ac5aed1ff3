import type { KeptCall } from "../contracts/store.ts";
import { denialResult, executeCall, type CallResult } from "../pipeline/execute.ts";
import { runScheduled } from "../pipeline/schedule.ts";
import type { ToolCall } from "../protocol/message.ts";
import type { Batch, TurnProgress } from "./projection.ts";
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
    const run = async (): Promise<void> => {
      if (decision?.approved === false) {
        const denial = { by: decision.decided_by?.name ?? null, feedback: decision.feedback, reason: decision.reason };
        await port.append(resultDraft(denialResult(kept, denial)));
        return;
      }
      const started_seq = turn.started.get(kept.call_id);
      const interrupted = started_seq !== undefined && started_seq <= port.recovered_seq;
      if (kept.error === undefined && started_seq === undefined) {
        await port.append({ entries: [{ event: { type: "tool_started", call_id: kept.call_id, name: kept.name } }] });
      }
      await runOne(port, kept, settings, interrupted, dependencies);
    };
    return { resources: kept.resources, only_reads: kept.effect === "none", run: () => guarded(run, port) };
  });
  await runScheduled(jobs);
  port.signal.throwIfAborted();
}

async function runOne(
  port: TurnPort,
  kept: KeptCall,
  settings: Parameters<TurnPort["toolContext"]>[1],
  interrupted: boolean,
  dependencies: TurnDependencies,
): Promise<void> {
  port.signal.throwIfAborted();
  const context = port.toolContext(kept.call_id, settings);
  const result = await executeCall(kept, dependencies.catalog, context, dependencies.redact, interrupted);
  await port.appendResult(resultDraft(result), kept.call_id);
}

// An abort ends the whole batch, and is raised once all jobs have come to rest.
async function guarded(run: () => Promise<void>, port: TurnPort): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!port.signal.aborted) throw error;
  }
}

function resultDraft(result: CallResult): Draft {
  return {
    entries: [
      ...(result.notification === undefined ? [] : [{ event: result.notification }]),
      { event: result.event, ...(result.private === undefined ? {} : { private: result.private }) },
    ],
  };
}
