import { modelChain } from "../agent/models.ts";
import { undecidedCalls } from "../agent/projection.ts";
import type {
  ApproveRequest,
  ApproveResult,
  CreateRequest,
  CreateResult,
  DashboardRow,
  Engine,
  EngineFailure,
  IncomingMessage,
  LiveSnapshot,
  McpRequestResult,
  PlanResult,
} from "../contracts/engine.ts";
import type { WorkstreamRow } from "../contracts/store.ts";
import type { DelegateRequest, DelegateResult } from "../contracts/tool.ts";
import { timestamp } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { ApprovalItem, DecidedBy } from "../protocol/approval.ts";
import type { McpRequestBody, OpenMcpRequest } from "../protocol/mcp_request.ts";
import type { CancelAnswer, SendAnswer } from "../protocol/workstream.ts";
import type { Workstream } from "./actor.ts";
import { settleApproval } from "./approvals.ts";
import type { Bus } from "./bus.ts";
import { runCommand } from "./commands/index.ts";
import { dashboardRow } from "./dashboard.ts";
import { NEWS_MS, tellOfEnd } from "./done_notice.ts";
import { NOT_ASKED } from "./mcp_requests.ts";
import { newWorkstreamRow } from "./new_row.ts";
import { WorkstreamRegistry } from "./registry.ts";
import { settleReview } from "./reviews.ts";
import { retryTurn, rewind } from "./rewind.ts";
import type { LiveWorkstream, WorkstreamHost } from "./live_workstream.ts";
import type { EngineServices } from "./services.ts";
import { snapshotOf } from "./snapshot.ts";
import { delegate } from "./sub_agents.ts";
import { Assessor } from "./assessor.ts";
import { Titles } from "./titles.ts";

/** Workstreams that recovery reads at once. */
const RECOVERY_PARALLEL = 16;

/** Turns that ended just before a crash and whose end is looked at again; a server seldom ends more in a moment. */
const JUST_ENDED_MAX = 64;

const UNKNOWN: EngineFailure = { ok: false, reason: "unknown", error: "Unknown workstream" };

/** All workstreams of this server. */
export class WorkstreamEngine implements Engine, WorkstreamHost {
  readonly bus: Bus;
  readonly #services: EngineServices;
  readonly #registry: WorkstreamRegistry;
  readonly #titles = new Titles();
  readonly #assessor = new Assessor();
  #stopping = false;

  constructor(services: EngineServices) {
    this.#services = services;
    this.bus = services.bus;
    this.#registry = new WorkstreamRegistry(services, this);
  }

  async create(request: CreateRequest): Promise<CreateResult> {
    const { store, clock } = this.#services;
    const { model_alias = null, resume_ws } = request;
    if (model_alias !== null && !this.#services.models().models.has(model_alias)) {
      const known = [...this.#services.models().models.keys()].join(", ");
      return {
        ok: false,
        reason: "unknown_model",
        error: `There is no model with the alias ${model_alias}; known are ${known}.`,
      };
    }
    if (resume_ws !== undefined) return this.#resume(resume_ws);
    const ws_id = request.ws_id ?? newId();
    const row = newWorkstreamRow({
      ws_id,
      name: request.name?.trim() || `ws-${ws_id.slice(0, 4)}`,
      kind: "main",
      user_id: request.user_id,
      model_alias,
      auto_approve: request.auto_approve ?? false,
      auto_approve_tools: request.auto_approve_tools ?? [],
      created: timestamp(clock),
    });
    if (!(await store.workstreams.create(row))) {
      return { ok: false, reason: "taken", error: `A workstream with the id ${ws_id} exists already.` };
    }
    await this.#registry.adopt(row);
    this.#announce(row);
    return { ok: true, workstream: row, resumed: false, message_count: 0 };
  }

  #announce({ ws_id, name, kind, parent_ws_id, user_id }: WorkstreamRow): void {
    this.bus.publishGlobal({ type: "ws_created", ws_id, name, kind, parent_ws_id, user_id });
  }

  async #resume(name: string): Promise<CreateResult> {
    const known = await this.#services.store.workstreams.resolve(name);
    const actor = known === null ? null : await this.#registry.get(known.ws_id);
    if (actor === null) return { ok: false, reason: "unknown_workstream", error: `No workstream is known as ${name}.` };
    if (actor.row.closed !== null) {
      await this.#services.store.workstreams.update(actor.row.ws_id, { closed: null });
      actor.row.closed = null;
      this.#announce(actor.row);
    }
    return { ok: true, workstream: actor.row, resumed: true, message_count: actor.row.message_count };
  }

  async send(ws_id: string, message: IncomingMessage): Promise<SendAnswer | EngineFailure> {
    const actor = await this.#registry.get(ws_id);
    return actor === null ? UNKNOWN : actor.inbox.send(message);
  }

  async withdraw(ws_id: string, msg_id: string): Promise<"withdrawn" | "joined" | "unknown"> {
    return (await this.#registry.get(ws_id))?.inbox.withdraw(msg_id) ?? "unknown";
  }

  async approve(ws_id: string, request: ApproveRequest): Promise<ApproveResult> {
    const actor = await this.#approvalHolder(ws_id, request);
    if (actor === null) {
      return { ok: false, reason: "nothing_pending", error: "Nothing is waiting for an approval here." };
    }
    return settleApproval(actor, request);
  }

  /** The workstream itself or the sub-agent of it that asks: for what is named, else the one that has asked longest. */
  async #approvalHolder(ws_id: string, { cycle_id, call_id, calls }: ApproveRequest): Promise<Workstream | null> {
    const own = await this.#registry.get(ws_id);
    if (own === null) return null;
    if (cycle_id !== null) {
      const row = await this.#services.store.approvals.get(cycle_id);
      if (row === null || row.ws_id === ws_id) return own;
      const child = await this.#registry.get(row.ws_id);
      return child !== null && child.row.parent_ws_id === ws_id ? child : own;
    }
    const named = call_id === null ? Object.keys(calls ?? {}) : [call_id];
    const asking = [own, ...this.#childrenOf(ws_id)].flatMap((actor) => {
      const batch = actor.conversation.turn?.batch ?? null;
      if (batch === null || undecidedCalls(batch).length === 0) return [];
      const holds = named.every((id) => batch.calls.some((call) => call.call_id === id));
      return holds ? [{ actor, at: batch.entry.at }] : [];
    });
    return asking.toSorted((left, right) => left.at.localeCompare(right.at))[0]?.actor ?? own;
  }

  /** The sub-agents in memory; those that wait or work always are. */
  #childrenOf(ws_id: string): Workstream[] {
    return [...this.#registry.loaded()].filter((child) => child.row.parent_ws_id === ws_id);
  }

  async pendingApprovals(ws_id: string): Promise<{ cycle_id: string; items: ApprovalItem[] }[]> {
    return this.#services.store.approvals.pending(ws_id);
  }

  async plan(
    ws_id: string,
    request: { feedback: string; review_id: string | null; decided_by: DecidedBy | null },
  ): Promise<PlanResult> {
    const actor = await this.#registry.get(ws_id);
    if (actor === null) return { ok: false, reason: "nothing_pending", error: "Unknown workstream", decided_by: null };
    return settleReview(actor, request);
  }

  async mcpRequest(ws_id: string, request_id: string): Promise<OpenMcpRequest | null> {
    return (await this.#mcpRequestHolder(ws_id, request_id))?.mcp_requests.open(request_id) ?? null;
  }

  async answerMcpRequest(
    ws_id: string,
    request_id: string,
    answer: McpRequestBody & { decided_by: DecidedBy | null },
  ): Promise<McpRequestResult> {
    const actor = await this.#mcpRequestHolder(ws_id, request_id);
    return actor?.mcp_requests.answer(request_id, answer) ?? NOT_ASKED;
  }

  async signedIn(server: string, by: DecidedBy): Promise<void> {
    const theirs = [...this.#registry.loaded()].filter(({ row }) => row.user_id === by.user_id);
    await Promise.all(theirs.map((actor) => actor.mcp_requests.signedIn(server, by)));
  }

  /** The workstream itself or the sub-agent of it whose call a server asks something for. */
  async #mcpRequestHolder(ws_id: string, request_id: string): Promise<Workstream | null> {
    const own = await this.#registry.get(ws_id);
    if (own === null) return null;
    return [own, ...this.#childrenOf(ws_id)].find(({ mcp_requests }) => mcp_requests.knows(request_id)) ?? null;
  }

  async cancel(ws_id: string, force: boolean): Promise<CancelAnswer | EngineFailure> {
    return (await this.#registry.get(ws_id))?.cancel(force) ?? UNKNOWN;
  }

  async rewind(ws_id: string, turns: number): Promise<{ ok: true; turns: number } | EngineFailure> {
    const actor = await this.#registry.get(ws_id);
    return actor === null ? UNKNOWN : rewind(actor, turns);
  }

  async retry(ws_id: string, by: DecidedBy): Promise<{ ok: true } | EngineFailure> {
    const actor = await this.#registry.get(ws_id);
    return actor === null ? UNKNOWN : retryTurn(actor, by);
  }

  async close(ws_id: string, reason: string): Promise<{ ok: true } | EngineFailure> {
    const actor = await this.#registry.get(ws_id);
    if (actor === null) return UNKNOWN;
    await actor.cancel(true);
    const closed = timestamp(this.#services.clock);
    await this.#services.store.workstreams.update(ws_id, { closed });
    actor.row.closed = closed;
    this.bus.publishGlobal({ type: "ws_closed", ws_id, name: actor.row.name, reason });
    this.#registry.forget(ws_id);
    return { ok: true };
  }

  async remove(ws_id: string): Promise<{ ok: true } | EngineFailure> {
    const closed = await this.close(ws_id, "deleted");
    if (!closed.ok) return closed;
    for (const child of await this.#services.store.workstreams.children(ws_id)) {
      this.#registry.forget(child.ws_id);
      await this.#services.store.workstreams.remove(child.ws_id);
    }
    await this.#services.store.workstreams.remove(ws_id);
    return { ok: true };
  }

  async command(ws_id: string, command: string, by: DecidedBy): Promise<{ ok: true; output: string } | EngineFailure> {
    const actor = await this.#registry.get(ws_id);
    return actor === null ? UNKNOWN : runCommand(actor, command, by);
  }

  async snapshot(ws_id: string): Promise<LiveSnapshot | null> {
    const actor = await this.#registry.get(ws_id);
    if (actor === null) return null;
    return snapshotOf(actor, this.#childrenOf(ws_id));
  }

  async dashboard(filter: { user_id?: string }): Promise<DashboardRow[]> {
    const rows = await this.#services.store.workstreams.list({ ...filter, limit: 200 });
    return rows.map((row) => dashboardRow(row, this.#registry.ifLoaded(row.ws_id), this.#services));
  }

  backend(): ReturnType<Engine["backend"]> {
    const alias = modelChain(this.#services.models(), null)[0]?.alias ?? "";
    const { breakers } = this.#services;
    return { status: breakers.isUp(alias) ? "up" : "down", circuit_state: breakers.state(alias) };
  }

  async recover(): Promise<void> {
    const rows = await this.#services.store.workstreams.unfinished();
    for (let index = 0; index < rows.length; index += RECOVERY_PARALLEL) {
      await Promise.all(rows.slice(index, index + RECOVERY_PARALLEL).map((row) => this.#carryOn(row.ws_id)));
    }
    if (rows.length > 0) this.#services.log.info("turns.recovered", { count: rows.length });
    await this.#catchUpOnEnds();
  }

  /** What follows the end of a turn, a notice and a title, may not have come about before a crash. */
  async #catchUpOnEnds(): Promise<void> {
    const { store, clock, log } = this.#services;
    const since = new Date(clock.now() - NEWS_MS).toISOString();
    for (const { ws_id } of await store.workstreams.restingSince(since, JUST_ENDED_MAX)) {
      try {
        const actor = await this.#registry.get(ws_id);
        if (actor !== null && !actor.is_busy) this.turnEnded(actor);
      } catch (error) {
        log.error("turn.end_not_followed", { ws_id, error });
      }
    }
  }

  // One that cannot be read must not keep the others, and the server, from their work.
  async #carryOn(ws_id: string): Promise<void> {
    try {
      const actor = await this.#registry.get(ws_id);
      if (actor === null) return;
      if (await this.#isWanted(actor.row)) actor.start();
      else await actor.cancel(true);
    } catch (error) {
      this.#services.log.error("turn.not_recovered", { ws_id, error });
    }
  }

  /**
   * A sub-agent works for a call of its parent. Where a crash came between the end of that call and of its sub-agent,
   * nobody waits for it.
   */
  async #isWanted({ parent_ws_id, parent_call_id }: WorkstreamRow): Promise<boolean> {
    if (parent_ws_id === null) return true;
    const turn = (await this.#registry.get(parent_ws_id))?.conversation.turn ?? null;
    return turn !== null && turn.open_calls.some(({ id }) => id === parent_call_id && !turn.results.has(id));
  }

  async stop(grace_ms: number): Promise<void> {
    this.#stopping = true;
    this.#titles.stop();
    this.#assessor.stop();
    await Promise.all([...this.#registry.loaded()].map((actor) => actor.shutDown(grace_ms)));
    this.#registry.close();
  }

  isStopping(): boolean {
    return this.#stopping;
  }

  delegate(
    parent: WorkstreamRow,
    call_id: string,
    request: DelegateRequest,
    signal: AbortSignal,
  ): Promise<DelegateResult> {
    const { store, clock } = this.#services;
    return delegate(
      {
        createChild: async (row) => {
          await store.workstreams.create(row);
          this.#announce(row);
          return this.#registry.adopt(row);
        },
        load: (ws_id) => this.#registry.get(ws_id),
        childrenOf: (ws_id) => store.workstreams.children(ws_id),
        showAttention: (ws_id) => this.showAttention(ws_id),
        now: () => timestamp(clock),
      },
      parent,
      call_id,
      request,
      signal,
    );
  }

  stateChanged(actor: LiveWorkstream): void {
    const { ws_id, state, parent_ws_id, context_tokens } = actor.row;
    if (state === "thinking") this.#titles.giveWay(ws_id);
    const window = modelChain(this.#services.models(), actor.row.model_alias)[0]?.capabilities.context_window ?? 0;
    const context_ratio = window === 0 ? 0 : Math.round((context_tokens / window) * 1000) / 1000;
    this.bus.publishGlobal({ type: "ws_state", ws_id, state, tokens: context_tokens, context_ratio });
    if (parent_ws_id !== null) this.showAttention(parent_ws_id);
  }

  showAttention(ws_id: string): void {
    const actor = this.#registry.ifLoaded(ws_id);
    if (actor === undefined || (actor.row.state !== "running" && actor.row.state !== "attention")) return;
    const { turn, open_reviews, open_mcp_requests } = actor.conversation;
    const asks = turn !== null && turn.batch !== null && undecidedCalls(turn.batch).length > 0;
    const children_ask = this.#childrenOf(ws_id).some((child) => child.row.state === "attention");
    const waits = asks || open_reviews.size > 0 || open_mcp_requests.size > 0 || children_ask;
    actor.setState(waits ? "attention" : "running");
  }

  assess(actor: LiveWorkstream, cycle_id: string): void {
    if (!this.#stopping) this.#assessor.consider(actor, cycle_id);
  }

  async turnSeqOf(ws_id: string): Promise<number> {
    return (await this.#registry.get(ws_id))?.conversation.turn?.turn_seq ?? 0;
  }

  async speakersOf(ws_id: string): Promise<ReadonlySet<string>> {
    return (await this.#registry.get(ws_id))?.conversation.turn?.speakers ?? new Set();
  }

  turnEnded(actor: LiveWorkstream): void {
    tellOfEnd(actor);
    if (!this.#stopping) this.#titles.turnEnded(actor);
  }
}
