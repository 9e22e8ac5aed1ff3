import type {
  ApproveResult,
  CreateRequest,
  CreateResult,
  Engine,
  IncomingMessage,
  LiveSnapshot,
} from "../../contracts/engine.ts";
import type { Store } from "../../contracts/store.ts";
import { newId } from "../../lib/ids.ts";
import type { EphemeralEvent, KeptEvent } from "../../protocol/event.ts";
import type { WorkstreamState } from "../../protocol/workstream.ts";
import { Bus } from "../../workstream/bus.ts";

const AT = "2026-01-02T03:04:05.678Z";

/** For tests of the HTTP border: an engine without a model. What happens in a workstream is what the test says. */
export class JournalEngine implements Engine {
  readonly bus = new Bus();
  readonly store: Store;
  readonly states = new Map<string, WorkstreamState>();
  readonly running = new Map<string, { content: string; reasoning: string; model_call_id: string }>();
  readonly pending = new Map<string, number[]>();
  /** What the next decision is answered with. */
  approval: ApproveResult = { ok: false, reason: "nothing_pending", error: "Nothing is waiting for an approval here." };
  /** Called once while a snapshot is made, before and after its text is read. */
  beforeSnapshot: (() => void) | null = null;
  onSnapshot: (() => void) | null = null;
  /** Thrown by the next command. */
  failure: Error | null = null;

  constructor(store: Store) {
    this.store = store;
  }

  /** Writes an entry, then tells readers. */
  async append(ws_id: string, event: KeptEvent): Promise<number> {
    const seq = await this.keep(ws_id, event);
    this.bus.publish(this.bus.replayFrame({ ws_id, seq, at: AT, event }));
    return seq;
  }

  /** Writes an entry that nobody is told of yet. */
  async keep(ws_id: string, event: KeptEvent): Promise<number> {
    const seq = ((await this.store.workstreams.get(ws_id))?.last_seq ?? 0) + 1;
    await this.store.journal.commit({ ws_id, at: AT, entries: [{ ws_id, seq, at: AT, event }] });
    return seq;
  }

  tell(ws_id: string, event: EphemeralEvent): void {
    this.bus.publish(this.bus.ephemeralFrame(ws_id, event));
  }

  /** A piece of streamed text. */
  stream(ws_id: string, text: string): void {
    const running = this.running.get(ws_id) ?? { content: "", reasoning: "", model_call_id: "1.1" };
    this.running.set(ws_id, { ...running, content: running.content + text });
    this.tell(ws_id, { type: "content", text });
  }

  async create(request: CreateRequest): Promise<CreateResult> {
    if (request.model_alias === "nonesuch") {
      return { ok: false, reason: "unknown_model", error: "There is no such model." };
    }
    const ws_id = request.ws_id ?? newId();
    const workstream = {
      ws_id,
      name: request.name ?? "unnamed",
      title: null,
      alias: null,
      kind: "main" as const,
      parent_ws_id: null,
      parent_call_id: null,
      user_id: request.user_id,
      state: "idle" as const,
      turn_open: false,
      model_alias: null,
      auto_approve: request.auto_approve ?? false,
      auto_approve_tools: request.auto_approve_tools ?? [],
      context_tokens: 0,
      last_seq: 0,
      message_count: 0,
      created: AT,
      updated: AT,
      closed: null,
    };
    if (!(await this.store.workstreams.create(workstream))) {
      return { ok: false, reason: "taken", error: "That id is taken." };
    }
    this.bus.publishGlobal({
      type: "ws_created",
      ws_id,
      name: workstream.name,
      kind: "main",
      parent_ws_id: null,
      user_id: request.user_id,
    });
    return { ok: true, workstream, resumed: false, message_count: 0 };
  }

  async send(ws_id: string, message: IncomingMessage): Promise<{ status: "ok"; msg_id: string }> {
    const sender = message.sender === null ? {} : { sender: message.sender };
    const client_send_ids = message.client_send_id === null ? [] : [message.client_send_id];
    await this.append(ws_id, {
      type: "user_turn",
      content: message.content,
      source: message.source,
      client_send_ids,
      ...sender,
    });
    return { status: "ok", msg_id: newId() };
  }

  async withdraw(): Promise<"unknown"> {
    return "unknown";
  }

  async approve(): Promise<ApproveResult> {
    return this.approval;
  }

  async pendingApprovals(): Promise<[]> {
    return [];
  }

  async plan(): Promise<{ ok: false; reason: "nothing_pending"; error: string; decided_by: null }> {
    return { ok: false, reason: "nothing_pending", error: "No plan is waiting.", decided_by: null };
  }

  async mcpRequest(): Promise<null> {
    return null;
  }

  async signedIn(): Promise<void> {}

  async answerMcpRequest(): Promise<{ ok: false; reason: "nothing_pending"; error: string }> {
    return { ok: false, reason: "nothing_pending", error: "Nothing of an MCP server waits." };
  }

  async cancel(): Promise<{ status: "idle"; dropped: number }> {
    return { status: "idle", dropped: 0 };
  }

  async rewind(): Promise<{ ok: true; turns: number }> {
    return { ok: true, turns: 1 };
  }

  async retry(): Promise<{ ok: true }> {
    return { ok: true };
  }

  async close(ws_id: string, reason: string): Promise<{ ok: true }> {
    await this.store.workstreams.update(ws_id, { closed: AT });
    this.bus.publishGlobal({ type: "ws_closed", ws_id, name: "", reason });
    return { ok: true };
  }

  async remove(ws_id: string): Promise<{ ok: true }> {
    await this.store.workstreams.remove(ws_id);
    return { ok: true };
  }

  async command(): Promise<{ ok: true; output: string }> {
    if (this.failure !== null) throw this.failure;
    return { ok: true, output: "done" };
  }

  async snapshot(ws_id: string): Promise<LiveSnapshot | null> {
    const row = await this.store.workstreams.get(ws_id);
    if (row === null) return null;
    this.beforeSnapshot?.();
    this.beforeSnapshot = null;
    const seqs = this.pending.get(ws_id) ?? [];
    const entries = (await this.store.journal.read(ws_id, 0)).filter((entry) => seqs.includes(entry.seq));
    const snapshot: LiveSnapshot = {
      state: this.states.get(ws_id) ?? "idle",
      model: "model",
      model_alias: "default",
      skip_permissions: false,
      in_progress: this.running.get(ws_id) ?? null,
      open_call_ids: [],
      pending: entries.map((entry) => this.bus.replayFrame(entry)),
      last_seq: row.last_seq,
    };
    this.onSnapshot?.();
    this.onSnapshot = null;
    return snapshot;
  }

  async dashboard(): Promise<[]> {
    return [];
  }

  backend(): { status: "up"; circuit_state: "closed" } {
    return { status: "up", circuit_state: "closed" };
  }

  async recover(): Promise<void> {}

  async stop(): Promise<void> {}
}
