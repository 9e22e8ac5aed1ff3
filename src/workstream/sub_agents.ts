import { isShutdown } from "../agent/turn_port.ts";
import type { WorkstreamRow } from "../contracts/store.ts";
import type { DelegateRequest, DelegateResult } from "../contracts/tool.ts";
import { cut } from "../lib/cut.ts";
import { newId } from "../lib/ids.ts";
import type { Workstream } from "./actor.ts";
import { finalWords, latestPlan } from "./final_words.ts";
import { newWorkstreamRow } from "./new_row.ts";

/** Characters of earlier words that a sub-agent is given: what it builds on must leave room for its work. */
const CONTEXT_CHARACTERS_MAX = 60_000;

const TOO_DEEP = "A sub-agent cannot start another sub-agent; do the work yourself.";

/** What running a sub-agent needs of the engine. */
export interface SubAgentHost {
  createChild(row: WorkstreamRow): Promise<Workstream>;
  load(ws_id: string): Promise<Workstream | null>;
  /** Oldest first. */
  childrenOf(ws_id: string): Promise<WorkstreamRow[]>;
  /** Shows on the parent whether the child waits for a person. */
  showAttention(ws_id: string): void;
  now(): string;
}

/**
 * Runs a sub-agent to the end of its turn and answers its last words. A child belongs to the call that started it: the
 * same call after a restart, or another round of the same plan, goes on in the same child, and a prompt that was sent
 * is not sent again. A cancel stops the child and answers what it had done. Rejects when the server stops: the child is
 * left to the next start, as its parent is.
 */
export async function delegate(
  host: SubAgentHost,
  parent: WorkstreamRow,
  call_id: string,
  request: DelegateRequest,
  signal: AbortSignal,
): Promise<DelegateResult> {
  signal.throwIfAborted();
  if (parent.kind !== "main") return { ok: false, error: TOO_DEEP };
  const siblings = await host.childrenOf(parent.ws_id);
  const known = siblings.find((row) => row.parent_call_id === call_id);
  const content = known === undefined ? await promptOf(host, siblings, request) : request.prompt;
  const child =
    known === undefined
      ? await host.createChild(childRow(parent, call_id, request.kind, host.now()))
      : await host.load(known.ws_id);
  if (child === null) return { ok: false, error: "The sub-agent is gone." };
  const { ws_id } = child.row;
  const client_send_id = `delegate:${call_id}:${request.round ?? 1}`;
  const sent = await child.inbox.send({ content, client_send_id, attachments: [], sender: null, source: "delegate" });
  if ("ok" in sent) return { ok: false, error: sent.error, ws_id };
  child.start();
  host.showAttention(parent.ws_id);
  await turnOver(child, signal);
  if (isShutdown(signal)) signal.throwIfAborted();
  if (signal.aborted) await child.cancel(true);
  return { ...(await finalWords(child)), usage: Object.fromEntries(child.conversation.spent) };
}

/** The prompt with what it builds on: the words that came along or, for a plan, the plan made before it. */
async function promptOf(
  host: SubAgentHost,
  siblings: readonly WorkstreamRow[],
  request: DelegateRequest,
): Promise<string> {
  const context =
    request.context ?? (request.kind === "plan" ? await latestPlan(siblings, (ws_id) => host.load(ws_id)) : null);
  if (context === null) return request.prompt;
  const earlier = cut(context, CONTEXT_CHARACTERS_MAX, "It was left out for its length.");
  return `${request.prompt}\n\nWhat was worked out before; refine it instead of starting over:\n\n<earlier>\n${earlier}\n</earlier>`;
}

/** Resolves when the child's turn is over and no message waits for it, or when the signal is aborted. */
function turnOver(child: Workstream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      const is_over = child.conversation.turn === null && child.inbox.queued.length === 0;
      if (!is_over && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener("abort", look);
      resolve();
    };
    const unsubscribe = child.services.bus.subscribe(child.row.ws_id, ({ event }) => {
      if (event.type === "turn_ended") look();
    });
    signal.addEventListener("abort", look);
    look();
  });
}

function childRow(
  parent: WorkstreamRow,
  call_id: string,
  kind: DelegateRequest["kind"],
  created: string,
): WorkstreamRow {
  return newWorkstreamRow({
    ws_id: newId(),
    name: `${parent.name}: ${kind}`,
    kind,
    parent_ws_id: parent.ws_id,
    parent_call_id: call_id,
    user_id: parent.user_id,
    model_alias: parent.model_alias,
    auto_approve: parent.auto_approve,
    auto_approve_tools: parent.auto_approve_tools,
    created,
  });
}
