import type { Catalog } from "../catalog/catalog.ts";
import type { KeptCall, PrivateData } from "../contracts/store.ts";
import type { ToolContext, ToolOutput } from "../contracts/tool.ts";
import { cut } from "../lib/cut.ts";
import type { SettlementReason } from "../protocol/approval.ts";
import type { Effect, NotificationEvent, ToolResultEvent } from "../protocol/event.ts";
import type { ToolCall } from "../protocol/message.ts";

/** One call's end, ready for the journal. */
export interface CallResult {
  event: ToolResultEvent;
  private?: PrivateData;
  notification?: NotificationEvent;
}

/** Who said no, and what they wrote. */
export interface Denial {
  by: string | null;
  feedback: string | null;
  reason: SettlementReason | null;
}

/**
 * Runs one prepared call to its result. Never rejects: what a tool throws becomes its own error result. `resumed`
 * means that the call had started before a crash: a tool with `resume` takes it up again, another runs again only if
 * it has no side effect.
 */
export async function executeCall(
  call: KeptCall,
  catalog: Catalog,
  context: ToolContext,
  redact: (text: string) => string,
  resumed: boolean,
): Promise<CallResult> {
  const tool = catalog.find(call.name)?.tool;
  if (call.error !== undefined) return settledResult(call, call.error);
  if (resumed && tool?.resume === undefined && call.effect === "side_effect") return unknownOutcome(call);
  if (tool === undefined || call.plan === undefined) {
    return settledResult(call, `The tool ${call.name} is no longer available; the call was not run.`);
  }
  try {
    const output = await (resumed && tool.resume !== undefined
      ? tool.resume(call.plan, context)
      : tool.execute(call.plan, context));
    return finish(call, output, context.output_limit, redact);
  } catch (error) {
    if (context.signal.aborted) {
      return cancelledResult({ id: call.call_id, name: call.name, arguments: "" }, true, call.effect !== "none");
    }
    context.log.error("tool.failed", { call_id: call.call_id, name: call.name, error });
    const effect: Effect = call.effect === "none" ? "none" : "unknown";
    const output = `${call.name} failed inside the server. ${effect === "unknown" ? "Whether it had an effect is unknown: check before you try again." : "Try it another way."}`;
    return { event: resultEvent(call, { output, is_error: true, effect }) };
  }
}

function finish(call: KeptCall, output: ToolOutput, limit: number, redact: (text: string) => string): CallResult {
  const text = cut(redact(output.output), limit, "Ask for less at a time, or search in it.");
  const { files, expanded_tools, usage, notification } = output;
  const kept = {
    ...(files === undefined ? {} : { files }),
    ...(expanded_tools === undefined ? {} : { expanded_tools }),
    ...(usage === undefined ? {} : { usage }),
  };
  return {
    event: {
      ...resultEvent(call, { output: text, is_error: output.is_error, effect: output.effect }),
      ...(output.display === undefined ? {} : { display: redact(output.display) }),
      ...(output.images === undefined || output.images.length === 0 ? {} : { images: output.images }),
    },
    ...(Object.keys(kept).length === 0 ? {} : { private: kept }),
    ...(notification === undefined ? {} : { notification: notificationEvent(notification, redact) }),
  };
}

function notificationEvent(
  sent: NonNullable<ToolOutput["notification"]>,
  redact: (text: string) => string,
): NotificationEvent {
  const title = sent.title === undefined ? {} : { title: redact(sent.title) };
  return { type: "notification", ...sent, ...title, message: redact(sent.message) };
}

function resultEvent(
  call: Pick<KeptCall, "call_id" | "name">,
  result: { output: string; is_error: boolean; effect: Effect; denied?: boolean },
): ToolResultEvent {
  const { call_id, name } = call;
  return { type: "tool_result", call_id, name, ...result };
}

function settledResult(call: KeptCall, error: string): CallResult {
  const denied = call.denied === true ? { denied: true } : {};
  return { event: resultEvent(call, { output: error, is_error: true, effect: "none", ...denied }) };
}

/** For a call that a person, a deadline or a cancel refused. */
export function denialResult(call: KeptCall, denial: Denial): CallResult {
  const output = `${denialText(denial)}. It was not run. This is a decision, not a fault: do not try to reach the same end another way; ask what is wanted instead.`;
  return { event: resultEvent(call, { output, is_error: true, effect: "none", denied: true }) };
}

function denialText({ by, feedback, reason }: Denial): string {
  switch (reason) {
    case "expired":
      return "Nobody answered the request for approval before it expired";
    case "unreachable":
      return "Nobody who may approve this call could be asked";
    case "cancelled":
      return "The request for approval was cancelled";
    case "person":
    case "policy":
    case "judge":
    case null: {
      const denied = `${by ?? "nobody in time"} denied this call`;
      return feedback === null || feedback === "" ? denied : `${denied} and said: ${feedback}`;
    }
  }
}

/** For a call with side effects that had started when the server stopped. */
export function unknownOutcome(call: KeptCall): CallResult {
  const output = `The server stopped while ${call.name} was running, so its outcome is unknown: it may have had its effect, in whole or in part. It was not run again. Check the state of things before you decide what to do.`;
  return { event: resultEvent(call, { output, is_error: true, effect: "unknown" }) };
}

/** For a call without a result when its turn is cancelled. */
export function cancelledResult(call: ToolCall, started: boolean, has_side_effect: boolean): CallResult {
  const unknown = started && has_side_effect;
  const output = unknown
    ? `Cancelled by the user while ${call.name} was running; its outcome is unknown.`
    : `Cancelled by the user before ${call.name} ran. It had no effect.`;
  return {
    event: resultEvent(
      { call_id: call.id, name: call.name },
      { output, is_error: false, effect: unknown ? "unknown" : "none" },
    ),
  };
}
