import type { Store, WorkstreamRow } from "../contracts/store.ts";
import { Workstream } from "./actor.ts";
import type { WorkstreamHost } from "./live_workstream.ts";
import type { EngineServices } from "./services.ts";

/** How long an idle workstream stays in memory after its last request. */
const IDLE_RELEASE_MS = 10 * 60_000;
const SWEEP_INTERVAL_MS = 60_000;

/** Sub-agents do not start sub-agents; a deeper chain of parents is a broken row. */
const PARENTS_MAX = 8;

/** The workstreams in memory. One that nobody uses is a row and nothing else. */
export class WorkstreamRegistry {
  readonly #services: EngineServices;
  readonly #host: WorkstreamHost;
  readonly #live = new Map<string, Promise<Workstream | null>>();
  readonly #loaded = new Map<string, Workstream>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(services: EngineServices, host: WorkstreamHost) {
    this.#services = services;
    this.#host = host;
    this.#sweeper = setInterval(() => this.#release(), SWEEP_INTERVAL_MS);
    this.#sweeper.unref();
  }

  /** Those in memory. */
  loaded(): IterableIterator<Workstream> {
    return this.#loaded.values();
  }

  ifLoaded(ws_id: string): Workstream | undefined {
    return this.#loaded.get(ws_id);
  }

  /** From memory, or read from its journal; null when there is none. */
  get(ws_id: string): Promise<Workstream | null> {
    const live = this.#live.get(ws_id);
    if (live !== undefined) return live;
    const loading = this.#load(ws_id);
    this.#keep(ws_id, loading);
    return loading;
  }

  /** Takes a workstream in that was just created: there is nothing to read. */
  async adopt(row: WorkstreamRow): Promise<Workstream> {
    const actor = await this.#make(row, [], []);
    this.#keep(row.ws_id, Promise.resolve(actor));
    return actor;
  }

  forget(ws_id: string): void {
    this.#live.delete(ws_id);
    this.#loaded.delete(ws_id);
  }

  close(): void {
    clearInterval(this.#sweeper);
  }

  #keep(ws_id: string, loading: Promise<Workstream | null>): void {
    this.#live.set(ws_id, loading);
    loading.then(
      (actor) => (actor === null ? this.forget(ws_id) : this.#loaded.set(ws_id, actor)),
      () => this.forget(ws_id),
    );
  }

  async #load(ws_id: string): Promise<Workstream | null> {
    const { store } = this.#services;
    const row = await store.workstreams.get(ws_id);
    if (row === null) return null;
    const compaction = await store.journal.lastCompaction(ws_id);
    const after = compaction?.private?.replay_after_seq ?? 0;
    const [entries, queued] = await Promise.all([store.journal.read(ws_id, after), store.messages.queued(ws_id)]);
    const actor = await this.#make(row, entries, queued);
    await this.#replaceMissingModel(actor);
    return actor;
  }

  /** A model that was taken out of the settings is told of and given up, so that no other one answers unnoticed. */
  async #replaceMissingModel(actor: Workstream): Promise<void> {
    const { store } = this.#services;
    const { default_alias, models: known } = this.#services.models();
    const { ws_id, model_alias } = actor.row;
    if (model_alias === null || known.has(model_alias)) return;
    const message = `The model ${model_alias} is no longer configured; ${default_alias} answers from now on. /model chooses another.`;
    await actor.append({ entries: [{ event: { type: "info", message } }] });
    await store.workstreams.update(ws_id, { model_alias: null });
    actor.row.model_alias = null;
  }

  async #make(
    row: WorkstreamRow,
    entries: Awaited<ReturnType<Store["journal"]["read"]>>,
    queued: Awaited<ReturnType<Store["messages"]["queued"]>>,
  ): Promise<Workstream> {
    const root = await this.#rootOf(row);
    const openWorkspace = (): ReturnType<EngineServices["workspaceOf"]> => this.#services.workspaceOf(root);
    return new Workstream({ row, entries, queued, openWorkspace, root_ws_id: root.ws_id }, this.#services, this.#host);
  }

  async #rootOf(row: WorkstreamRow): Promise<WorkstreamRow> {
    let root = row;
    for (let depth = 0; root.parent_ws_id !== null; depth += 1) {
      if (depth > PARENTS_MAX) throw new Error(`The workstream ${row.ws_id} has more than ${PARENTS_MAX} parents.`);
      const parent =
        this.#loaded.get(root.parent_ws_id)?.row ?? (await this.#services.store.workstreams.get(root.parent_ws_id));
      if (parent === null) return root;
      root = parent;
    }
    return root;
  }

  #release(): void {
    const now = this.#services.clock.now();
    for (const [ws_id, actor] of this.#loaded) {
      const unused = !actor.is_busy && actor.inbox.queued.length === 0 && now - actor.last_active_ms > IDLE_RELEASE_MS;
      if (unused && !this.#services.bus.isWatched(ws_id)) this.forget(ws_id);
    }
  }
}
