import type { WorkstreamRow } from "../contracts/store.ts";
import type { DelegateRequest, DelegateResult } from "../contracts/tool.ts";
import { newId } from "../lib/ids.ts";
import type { Workstream } from "./actor.ts";

/** What running a sub-agent needs of the engine. */
export interface SubAgentHost {
  createChild(row: WorkstreamRow): Promise<Workstream>;
  load(ws_id: string): Promise<Workstream | null>;
  childrenOf(ws_id: string): Promise<WorkstreamRow[]>;
  now(): string;
}

/**
 * Runs a sub-agent to the end of its turn and answers its last words. A child belongs to the call that started it: the same call after a
 * restart, or another round of the same plan, goes on in the same child, and a prompt that was sent is not sent again.
 */
export async function delegate(
  host: SubAgentHost,
  parent: WorkstreamRow,
  call_id: string,
  request: DelegateRequest,
  signal: AbortSignal,
): Promise<DelegateResult> {
  signal.throwIfAborted();
  if (parent.kind !== "main") return { ok: false, error: "A sub-agent cannot start another sub-agent; do the work yourself." };
  const known = (await host.childrenOf(parent.ws_id)).find((row) => row.parent_call_id === call_id);
  const child = known === undefined ? await host.createChild(childRow(parent, call_id, request.kind, host.now())) : await host.load(known.ws_id);
  if (child === null) return { ok: false, error: "The sub-agent is gone." };
  const { ws_id } = child.row;
  const content = request.context === undefined ? request.prompt : `${request.prompt}\n\n${request.context}`;
  const client_send_id = `delegate:${call_id}:${request.round ?? 1}`;
  const cancel = (): void => void child.cancel(true).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const sent = await child.inbox.send({ content, client_send_id, attachments: [], sender: null, source: "delegate" });
    if ("ok" in sent) return { ok: false, error: sent.error, ws_id };
    child.start();
    while (child.is_busy) {
      await child.rest;
      if (signal.aborted) break;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
  signal.throwIfAborted();
  return lastWords(child);
}

function childRow(parent: WorkstreamRow, call_id: string, kind: DelegateRequest["kind"], created: string): WorkstreamRow {
  return {
    ws_id: newId(),
    name: `${parent.name}: ${kind}`,
    title: null,
    alias: null,
    kind,
    parent_ws_id: parent.ws_id,
    parent_call_id: call_id,
    user_id: parent.user_id,
    state: "idle",
    turn_open: false,
    model_alias: parent.model_alias,
    auto_approve: parent.auto_approve,
    auto_approve_tools: parent.auto_approve_tools,
    context_tokens: 0,
    last_seq: 0,
    message_count: 0,
    created,
    updated: created,
    closed: null,
  };
}

function lastWords(child: Workstream): DelegateResult {
  const { ws_id } = child.row;
  const last = child.conversation.messages.at(-1);
  const text = last?.role === "assistant" ? last.content.trim() : "";
  if (child.row.state === "error") return { ok: false, error: text === "" ? "The sub-agent failed before it said anything." : text, ws_id };
  return text === "" ? { ok: false, error: "The sub-agent ended without an answer.", ws_id } : { ok: true, text, ws_id };
}
