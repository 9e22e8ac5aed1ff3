import { cancelTurn } from "../agent/cancel.ts";
import { emptyConversation, type Conversation } from "../agent/conversation.ts";
import { applyEntry } from "../agent/projection.ts";
import { runTurn } from "../agent/turn.ts";
import { isShutdown, TurnAborted, type Draft } from "../agent/turn_port.ts";
import type { CancelAnswer } from "../protocol/workstream.ts";
import type { JournalEntry, MessageRow, WorkstreamRow } from "../contracts/store.ts";
import type { Workspace } from "../lib/workspace.ts";
import type { EphemeralEvent } from "../protocol/event.ts";
import type { WorkstreamState } from "../protocol/workstream.ts";
import { Announcer } from "./announcer.ts";
import { DeltaStream } from "./delta_stream.ts";
import { ExpiryTimer } from "./expiry.ts";
import { Inbox } from "./inbox.ts";
import { JournalWriter, type Written } from "./journal_writer.ts";
import type { LiveWorkstream, WorkstreamHost } from "./live_workstream.ts";
import { McpRequests } from "./mcp_requests.ts";
import type { EngineServices } from "./services.ts";
import { Surroundings } from "./surroundings.ts";
import { createTurnPort } from "./turn_port_of_actor.ts";

/** How long a cancelled turn waits for its tools to come to rest: people wait two seconds at most. */
const CANCEL_GRACE_MS = 1500;

/** How long a stop waits for tools that were told to end; their results would not be written anyway. */
const SHUTDOWN_REST_MS = 3000;

/** A full disk or a locked file passes; trying more often would only fill the log. */
const STORE_RETRY_FIRST_MS = 250;
const STORE_RETRY_MAX_MS = 15_000;

/** What a workstream is made from. */
export interface WorkstreamParts {
  row: WorkstreamRow;
  entries: readonly JournalEntry[];
  queued: MessageRow[];
  /** Opens the folder that it works in; asked when it is first needed, since a channel may decide which. */
  openWorkspace: () => Promise<Workspace>;
  /** The workstream that people see: its own id, or that of a sub-agent's topmost parent. */
  root_ws_id: string;
}

/**
 * One live workstream: the requests it takes one after another, its running turn, its place in the journal. The turn
 * runs beside the requests and writes through the same writer.
 */
export class Workstream implements LiveWorkstream {
  readonly row: WorkstreamRow;
  readonly conversation: Conversation;
  readonly services: EngineServices;
  readonly host: WorkstreamHost;
  readonly root_ws_id: string;
  readonly surroundings: Surroundings;
  readonly stream: DeltaStream;
  readonly inbox: Inbox;
  readonly mcp_requests = new McpRequests(this);
  readonly recovered_seq: number;
  winding_up = false;
  #cancelling = false;
  last_active_ms: number;
  readonly #announcer: Announcer;
  readonly #writer: JournalWriter;
  readonly #expiry: ExpiryTimer;
  readonly #deciders = new Set<() => void>();
  #abort: AbortController | null = null;
  #running: Promise<void> | null = null;
  #requests: Promise<unknown> = Promise.resolve();

  constructor(parts: WorkstreamParts, services: EngineServices, host: WorkstreamHost) {
    this.row = parts.row;
    this.surroundings = new Surroundings(this.row, services, parts.openWorkspace);
    this.root_ws_id = parts.root_ws_id;
    this.services = services;
    this.host = host;
    this.conversation = emptyConversation(this.row.ws_id);
    for (const entry of parts.entries) applyEntry(this.conversation, entry);
    this.recovered_seq = this.conversation.last_seq;
    this.inbox = new Inbox(this, parts.queued);
    this.#announcer = new Announcer(services.bus, this.row);
    this.stream = new DeltaStream((type, text) => this.emit({ type, text: services.redact(text) }));
    this.#writer = new JournalWriter(services.store, services.clock, this.row, this.conversation, (written) =>
      this.#written(written),
    );
    this.#expiry = new ExpiryTimer(this);
    this.last_active_ms = services.clock.now();
  }

  get is_busy(): boolean {
    return this.conversation.turn !== null || this.#running !== null;
  }

  /** Resolves when no turn runs any more. */
  get rest(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  serial<T>(request: () => Promise<T>): Promise<T> {
    this.last_active_ms = this.services.clock.now();
    const answer = this.#requests.then(request);
    this.#requests = answer.catch(() => {});
    return answer;
  }

  append(draft: Draft): Promise<void> {
    return this.#writer.append(draft);
  }

  async appendPersistently(draft: Draft, signal: AbortSignal): Promise<void> {
    for (let delay_ms = STORE_RETRY_FIRST_MS; ; delay_ms = Math.min(delay_ms * 2, STORE_RETRY_MAX_MS)) {
      try {
        return await this.append(draft);
      } catch (error) {
        this.services.log.error("journal.write_failed", { ws_id: this.row.ws_id, error });
        await this.services.clock.sleep(delay_ms, signal);
      }
    }
  }

  emit(event: EphemeralEvent): void {
    this.#announcer.ephemeral(event);
  }

  setState(state: WorkstreamState): void {
    if (this.row.state === state) return;
    this.row.state = state;
    this.#tellState();
  }

  start(): void {
    if (this.#running !== null || this.#cancelling || this.host.isStopping()) return;
    if (this.conversation.turn === null && this.inbox.queued.length === 0) return;
    this.#expiry.arm();
    const running = this.#run().finally(() => {
      if (this.#running === running && !this.#cancelling) this.#rested();
    });
    this.#running = running;
  }

  #rested(): void {
    this.#running = null;
    this.#abort = null;
    this.host.turnEnded(this);
    // A message may have been queued while the last turn came to its end.
    this.start();
  }

  async #run(): Promise<void> {
    await this.services.ready;
    await this.surroundings.open();
    for (;;) {
      const abort = new AbortController();
      this.#abort = abort;
      try {
        if (this.conversation.turn === null && !(await this.inbox.join(abort.signal))) return;
        await runTurn(createTurnPort(this, abort.signal), this.services);
      } catch (error) {
        if (isShutdown(abort.signal) || this.host.isStopping()) return;
        if (!abort.signal.aborted) await this.#failed(error, abort.signal);
        return;
      }
    }
  }

  // A fault of ours must not leave the turn open for ever, nor show its insides.
  async #failed(error: unknown, signal: AbortSignal): Promise<void> {
    const { turn, ws_id } = this.conversation;
    this.services.log.error("turn.failed", { ws_id, error });
    if (turn === null) return;
    const message =
      "Something failed inside the server and the turn was ended; what was reported so far is kept. Try again.";
    this.winding_up = true;
    try {
      await cancelTurn(createTurnPort(this, signal), this.stream.current, {
        outcome: "failed",
        error: { type: "error", code: "internal", message },
      });
    } finally {
      this.winding_up = false;
    }
  }

  /** Ends the running turn within two seconds. With `force`, queued messages are taken back too. */
  cancel(force: boolean): Promise<CancelAnswer> {
    return this.serial(async () => {
      const dropped = force ? await this.inbox.dropAll() : 0;
      if (this.conversation.turn === null) return { status: "idle", dropped };
      this.#cancelling = true;
      const running = this.#running;
      this.#interrupt("cancel");
      await Promise.race([running, this.services.clock.sleep(CANCEL_GRACE_MS)]);
      this.winding_up = true;
      try {
        const port = createTurnPort(this, new AbortController().signal);
        await cancelTurn(port, this.stream.current, { outcome: "cancelled", error: null });
      } finally {
        this.winding_up = false;
        this.#cancelling = false;
        // A tool that does not listen is left behind: what it still says has no place any more.
        this.#rested();
      }
      return { status: "ok", dropped };
    });
  }

  /** Leaves the turn to the next start. Running calls get `grace_ms`; a model call and a wait for a person get none. */
  async shutDown(grace_ms: number): Promise<void> {
    this.#expiry.stop();
    if (this.row.state === "running") await Promise.race([this.rest, this.services.clock.sleep(grace_ms)]);
    this.#interrupt("shutdown");
    await Promise.race([this.rest, this.services.clock.sleep(SHUTDOWN_REST_MS)]);
  }

  #interrupt(kind: "cancel" | "shutdown"): void {
    this.#abort?.abort(new TurnAborted(kind));
    this.#wake();
  }

  decided(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const wake = (): void => {
        this.#deciders.delete(wake);
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      };
      this.#deciders.add(wake);
    });
  }

  #wake(): void {
    for (const wake of this.#deciders) wake();
  }

  #written(written: Written): void {
    this.stream.flush();
    this.#announcer.entries(written.entries);
    if (written.entries.some(({ event }) => event.type === "approve_request")) this.#expiry.arm();
    if (written.entries.some(({ event }) => event.type === "approval_resolved" || event.type === "plan_resolved")) {
      this.#wake();
    }
    if (written.state_changed) this.#tellState();
  }

  #tellState(): void {
    this.#announcer.state();
    this.host.stateChanged(this);
  }
}
