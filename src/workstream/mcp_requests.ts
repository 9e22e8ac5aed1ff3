import type { McpRequestResult } from "../contracts/engine.ts";
import type { McpRequestReply } from "../contracts/tool.ts";
import { newPrefixedId } from "../lib/ids.ts";
import type { DecidedBy, SettlementReason } from "../protocol/approval.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { McpAction, McpRequest, McpRequestBody, OpenMcpRequest } from "../protocol/mcp_request.ts";
import type { LiveWorkstream } from "./live_workstream.ts";
import { takeValues } from "./mcp_form.ts";

/** However often a server asks during one call, people are asked this often. */
const REQUESTS_PER_CALL_MAX = 20;

/** How long people are waited for where approvals never run out: the server holds a call open meanwhile. */
const WAIT_MS_MAX = 3_600_000;

/** The answer to an answer that nobody waits for. */
export const NOT_ASKED: McpRequestResult = {
  ok: false,
  reason: "nothing_pending",
  error: "Nothing of an MCP server waits for an answer here any more.",
};

interface Waiting extends OpenMcpRequest {
  reply: (reply: McpRequestReply) => void;
}

/**
 * What MCP servers want of people while calls of one workstream run. That something was asked and how it ended is
 * kept; what people filled in is not. None of it outlives the process, since the call at the server does not either.
 */
export class McpRequests {
  readonly #actor: LiveWorkstream;
  readonly #waiting = new Map<string, Waiting>();
  readonly #asked = new Map<string, number>();

  constructor(actor: LiveWorkstream) {
    this.#actor = actor;
  }

  /** Asks and waits. Where the signal is aborted first, that is the answer `cancel`, and nothing is thrown. */
  async ask(call_id: string, server: string, request: McpRequest, signal: AbortSignal): Promise<McpRequestReply> {
    const count = (this.#asked.get(call_id) ?? 0) + 1;
    if (count > REQUESTS_PER_CALL_MAX || signal.aborted) return CANCELLED;
    this.#asked.set(call_id, count);
    const request_id = newPrefixedId("mcp");
    const replied = Promise.withResolvers<McpRequestReply>();
    this.#waiting.set(request_id, { request_id, server, request, given: {}, reply: replied.resolve });
    const { signal: over, abort } = withTimeout(signal, this.#waitMs());
    const giveUp = (): void => void this.#giveUp(request_id, signal.aborted ? "cancelled" : "expired", replied.resolve);
    over.addEventListener("abort", giveUp, { once: true });
    try {
      const event = { type: "mcp_request" as const, request_id, call_id, server, request };
      await this.#actor.appendPersistently({ entries: [{ event }] }, over);
      this.#showAttention();
      return await replied.promise;
    } catch (error) {
      if (over.aborted) return CANCELLED;
      throw error;
    } finally {
      over.removeEventListener("abort", giveUp);
      abort();
      this.#waiting.delete(request_id);
    }
  }

  knows(request_id: string): boolean {
    return this.#waiting.has(request_id) || this.#actor.conversation.settled_mcp_requests.has(request_id);
  }

  open(request_id: string): OpenMcpRequest | null {
    const waiting = this.#waiting.get(request_id);
    if (waiting === undefined) return null;
    const { server, request, given } = waiting;
    return { request_id, server, request, given };
  }

  /** Takes what a person answers. A form may be filled in piece by piece. */
  answer(
    request_id: string,
    { action, partial = false, content = {}, decided_by }: McpRequestBody & { decided_by: DecidedBy | null },
  ): Promise<McpRequestResult> {
    return this.#actor.serial(async () => {
      const waiting = this.#waiting.get(request_id);
      if (waiting === undefined) return this.#settledAlready(request_id);
      const { request } = waiting;
      if (action === "accept" && request.kind === "sign_in") return NOT_BY_HAND;
      if (action === "accept" && request.kind === "form") {
        const taken = takeValues(request.fields, { ...waiting.given, ...content });
        if (!taken.ok) return { ok: false, reason: "invalid", error: taken.error };
        waiting.given = taken.values;
        if (partial || taken.missing.length > 0) return { ok: true, request_id, done: false, missing: taken.missing };
      }
      const reason = decided_by === null ? "unreachable" : "person";
      await this.#settle(waiting, action, decided_by, reason);
      return { ok: true, request_id, done: true, missing: [] };
    });
  }

  /** The person whose accounts this workstream uses has signed in to a server: calls that wait for that go on. */
  signedIn(server: string, by: DecidedBy): Promise<void> {
    return this.#actor.serial(async () => {
      for (const waiting of this.#waiting.values()) {
        if (waiting.server === server && waiting.request.kind === "sign_in") {
          await this.#settle(waiting, "accept", by, "person");
        }
      }
    });
  }

  async #settle(
    waiting: Waiting,
    action: McpAction,
    decided_by: DecidedBy | null,
    reason: SettlementReason,
  ): Promise<void> {
    const { request_id, given, request } = waiting;
    const event = { type: "mcp_request_resolved" as const, request_id, action, decided_by, reason };
    await this.#actor.append({ entries: [{ event }] });
    this.#waiting.delete(request_id);
    this.#showAttention();
    const content: JsonObject = action === "accept" && request.kind === "form" ? given : {};
    waiting.reply({ action, content });
  }

  async #giveUp(
    request_id: string,
    reason: "cancelled" | "expired",
    reply: (reply: McpRequestReply) => void,
  ): Promise<void> {
    const waiting = this.#waiting.get(request_id);
    try {
      const call_goes_on = this.#actor.conversation.open_mcp_requests.has(request_id) && !this.#actor.winding_up;
      if (waiting !== undefined && call_goes_on && !this.#actor.host.isStopping()) {
        await this.#settle(waiting, "cancel", null, reason);
      }
    } catch (error) {
      this.#actor.services.log.error("mcp_request.not_settled", { ws_id: this.#actor.row.ws_id, error });
    } finally {
      reply(CANCELLED);
    }
  }

  #settledAlready(request_id: string): McpRequestResult {
    const settled = this.#actor.conversation.settled_mcp_requests.get(request_id);
    if (settled === undefined) return NOT_ASKED;
    const { decided_by } = settled;
    const error = `This was already answered by ${decided_by?.name ?? "nobody in time"}.`;
    return { ok: false, reason: "settled", error, decided_by };
  }

  #waitMs(): number {
    const { approval_timeout_s } = this.#actor.services.settings;
    return approval_timeout_s === 0 ? WAIT_MS_MAX : Math.min(approval_timeout_s * 1000, WAIT_MS_MAX);
  }

  #showAttention(): void {
    this.#actor.host.showAttention(this.#actor.row.ws_id);
  }
}

const CANCELLED: McpRequestReply = { action: "cancel", content: {} };

const NOT_BY_HAND: McpRequestResult = {
  ok: false,
  reason: "invalid",
  error: "Nobody can say that somebody else has signed in; use Connect.",
};

/** A signal that is aborted with another or after a time; `abort` frees what it holds. */
function withTimeout(signal: AbortSignal, ms: number): { signal: AbortSignal; abort: () => void } {
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(), ms);
  timer.unref();
  const onAbort = (): void => own.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return {
    signal: own.signal,
    abort() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
