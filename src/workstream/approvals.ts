import type { ApproveRequest, ApproveResult } from "../contracts/engine.ts";
import type { Change, KeptCall } from "../contracts/store.ts";
import type { Batch } from "../agent/conversation.ts";
import { undecidedCalls } from "../agent/projection.ts";
import { newPrefixedId } from "../lib/ids.ts";
import { permits } from "../pipeline/covers.ts";
import { timestamp } from "../lib/clock.ts";
import type { DecidedBy, Grant, GrantScope, SettlementReason } from "../protocol/approval.ts";
import type { LiveWorkstream } from "./live_workstream.ts";

const WHOLE_TOOL: GrantScope = { match: "tool", for: "workstream" };

/** Settles the pending cycle of a workstream, whole or call by call. The first settlement of a call wins. */
export function settleApproval(actor: LiveWorkstream, request: ApproveRequest): Promise<ApproveResult> {
  return actor.serial(async () => {
    const batch = actor.conversation.turn?.batch ?? null;
    const pending =
      batch !== null && batch.cycle_id !== null && (request.cycle_id ?? batch.cycle_id) === batch.cycle_id;
    if (!pending) return lateAnswer(actor, request.cycle_id);
    const undecided = undecidedCalls(batch);
    if (undecided.length === 0) return lateAnswer(actor, batch.cycle_id);
    // The machine may have slept beyond the deadline that the card names, and its timers with it.
    if (batch.expires_at !== null && actor.services.clock.now() >= Date.parse(batch.expires_at)) {
      await expire(actor, batch, undecided);
      return lateAnswer(actor, batch.cycle_id);
    }
    const chosen = choose(batch, undecided, request);
    if (!chosen.ok) return chosen.result;
    const reason = request.decided_by === null ? "unreachable" : "person";
    return settle(actor, batch, chosen.calls, request, reason);
  });
}

type Chosen = { ok: true; calls: Record<string, boolean> } | { ok: false; result: ApproveResult };

function choose(batch: Batch, undecided: readonly string[], request: ApproveRequest): Chosen {
  const asked = new Set(batch.calls.filter((call) => call.needs_approval).map((call) => call.call_id));
  const named = request.call_id === null ? Object.keys(request.calls ?? {}) : [request.call_id];
  const stranger = named.find((call_id) => !asked.has(call_id));
  if (stranger !== undefined) {
    return {
      ok: false,
      result: { ok: false, reason: "invalid", error: `The call ${stranger} is not asked for in this approval.` },
    };
  }
  if (request.call_id !== null && !undecided.includes(request.call_id)) {
    return { ok: false, result: alreadyDecided(batch, request.call_id) };
  }
  const covered = request.call_id === null ? undecided : [request.call_id];
  const calls = Object.fromEntries(
    covered.map((call_id) => [
      call_id,
      Object.hasOwn(request.calls ?? {}, call_id) ? request.calls?.[call_id] === true : request.approved,
    ]),
  );
  return { ok: true, calls };
}

function alreadyDecided(batch: Batch, call_id: string): ApproveResult {
  const decision = batch.decisions.get(call_id);
  const approved = decision?.approved ?? false;
  const decided_by = decision?.decided_by ?? null;
  const error = `This call was already ${approved ? "approved" : "denied"} by ${decided_by?.name ?? "nobody"}.`;
  return {
    ok: false,
    reason: "settled",
    error,
    cycle_id: batch.cycle_id ?? "",
    approved,
    decided_by,
    decided_at: decision?.decided_at ?? null,
  };
}

async function settle(
  actor: LiveWorkstream,
  batch: Batch,
  calls: Record<string, boolean>,
  request: ApproveRequest,
  reason: SettlementReason,
): Promise<ApproveResult> {
  const { cycle_id } = batch;
  if (cycle_id === null) throw new Error("Only a cycle that was asked for can be settled.");
  const at = timestamp(actor.services.clock);
  const allowed = batch.calls.filter((call) => calls[call.call_id] === true);
  const granted =
    request.always && request.approved ? grantsFor(actor, allowed, request, at) : { ok: true as const, grants: [] };
  if (!granted.ok) return { ok: false, reason: "invalid", error: granted.error };
  const approved = allowed.length > 0;
  const { feedback, decided_by } = request;
  const over = undecidedCalls(batch).every((call_id) => Object.hasOwn(calls, call_id));
  const changes: Change[] = [
    {
      kind: "approval_settled",
      cycle_id,
      decisions: {
        ...Object.fromEntries([...batch.decisions].map(([id, decision]) => [id, decision.approved])),
        ...calls,
      },
      state: over ? "settled" : "pending",
      approved,
      decided_by,
      reason,
      at,
    },
    ...granted.grants.map((grant) => ({ kind: "grant_added" as const, grant })),
  ];
  const call_ids = Object.keys(calls);
  const always = granted.grants.length > 0;
  await actor.append({
    entries: [
      {
        event: {
          type: "approval_resolved",
          cycle_id,
          call_ids,
          approved,
          calls,
          feedback,
          always,
          decided_by,
          reason,
        },
      },
    ],
    ...(over ? { state: "running" } : {}),
    changes,
  });
  return { ok: true, cycle_id };
}

/** Lets calls run on the word of the judge. Only within a request of the actor. */
export async function allowByJudge(actor: LiveWorkstream, batch: Batch, call_ids: readonly string[]): Promise<void> {
  const calls = Object.fromEntries(call_ids.map((call_id) => [call_id, true]));
  const { cycle_id } = batch;
  const alone = { feedback: null, always: false, scope: null, call_id: null, decided_by: null };
  await settle(actor, batch, calls, { approved: true, cycle_id, calls, ...alone }, "judge");
}

type Grants = { ok: true; grants: Grant[] } | { ok: false; error: string };

/** "Always" for exactly what was allowed here, never wider than what the person was shown. */
function grantsFor(actor: LiveWorkstream, allowed: readonly KeptCall[], request: ApproveRequest, at: string): Grants {
  const scope = request.scope ?? WHOLE_TOOL;
  if (scope.match === "prefix" && scope.prefix === undefined) {
    return { ok: false, error: "A scope that matches a prefix must name the prefix." };
  }
  const user_id = actor.row.user_id ?? request.decided_by?.user_id;
  if (user_id === undefined) return { ok: false, error: "Only a person can allow something for longer." };
  const grants: Grant[] = [];
  for (const call of allowed) {
    const pattern =
      scope.match === "tool" ? null : scope.match === "exact" ? call.subject : (scope.prefix ?? "").trim();
    if (scope.match === "prefix" && !permits(call, "prefix", pattern ?? "")) {
      return {
        ok: false,
        error: `The prefix "${pattern}" does not cover the call that was shown, so nothing was decided.`,
      };
    }
    const expires =
      scope.expires_in_s === undefined ? null : new Date(Date.parse(at) + scope.expires_in_s * 1000).toISOString();
    grants.push({
      grant_id: newPrefixedId("grant"),
      ws_id: scope.for === "workstream" ? actor.root_ws_id : null,
      user_id,
      tool: call.approval_label,
      match: scope.match,
      pattern,
      created: at,
      expires,
      revoked: null,
    });
  }
  return { ok: true, grants };
}

/** For a press that comes too late: who settled it, and how. */
async function lateAnswer(actor: LiveWorkstream, cycle_id: string | null): Promise<ApproveResult> {
  const known = cycle_id === null ? null : await actor.services.store.approvals.get(cycle_id);
  if (known === null || known.ws_id !== actor.row.ws_id) {
    return { ok: false, reason: "nothing_pending", error: "Nothing is waiting for an approval here." };
  }
  const { approved, decided_by, reason, decided } = known;
  return {
    ok: false,
    reason: "settled",
    error: settledSentence(approved === true, decided_by, reason, decided),
    cycle_id: known.cycle_id,
    approved: approved === true,
    decided_by,
    decided_at: decided,
  };
}

function settledSentence(approved: boolean, by: DecidedBy | null, reason: string | null, at: string | null): string {
  if (reason === "expired") return "This request expired before anybody answered; nothing was run.";
  if (reason === "cancelled") return "This request was cancelled; nothing was run.";
  if (reason === "judge") return "This was allowed already, on the word of the judge.";
  if (reason === "unreachable") return "Nobody could be asked; nothing was run.";
  return `Already ${approved ? "approved" : "denied"} by ${by?.name ?? "nobody"}${at === null ? "" : ` at ${at}`}.`;
}

/** Denies what is still undecided because its time is over. */
export function expireApproval(actor: LiveWorkstream, cycle_id: string): Promise<void> {
  return actor.serial(async () => {
    const batch = actor.conversation.turn?.batch ?? null;
    if (batch === null || batch.cycle_id !== cycle_id) return;
    const undecided = undecidedCalls(batch);
    if (undecided.length > 0) await expire(actor, batch, undecided);
  });
}

async function expire(actor: LiveWorkstream, { cycle_id }: Batch, undecided: readonly string[]): Promise<void> {
  if (cycle_id === null) throw new Error("Only a cycle that was asked for can expire.");
  const calls = Object.fromEntries(undecided.map((call_id) => [call_id, false]));
  const settled = { approved: false, decided_by: null, reason: "expired" as const };
  await actor.append({
    entries: [
      {
        event: {
          type: "approval_resolved",
          cycle_id,
          call_ids: [...undecided],
          calls,
          feedback: null,
          always: false,
          ...settled,
        },
      },
    ],
    state: "running",
    changes: [
      {
        kind: "approval_settled",
        cycle_id,
        decisions: calls,
        state: "settled",
        at: timestamp(actor.services.clock),
        ...settled,
      },
    ],
  });
}
