import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Breakers } from "../../src/agent/breaker.ts";
import { createCatalog, type Catalog } from "../../src/catalog/catalog.ts";
import type { ToolSearchSettings } from "../../src/catalog/tool_search.ts";
import type { EngineFailure, Frame } from "../../src/contracts/engine.ts";
import type { ExternalServers } from "../../src/contracts/external_tools.ts";
import type { ModelRegistry } from "../../src/agent/models.ts";
import type { ModelSettings, Provider } from "../../src/contracts/provider.ts";
import type { Store } from "../../src/contracts/store.ts";
import type { Tool } from "../../src/contracts/tool.ts";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import { silentLog, type Log } from "../../src/lib/log.ts";
import { createStreamRedactors } from "../../src/lib/redact_stream.ts";
import { openWorkspace } from "../../src/lib/workspace.ts";
import type { KeptEvent } from "../../src/protocol/event.ts";
import type { ToolDefinition } from "../../src/protocol/tool_definition.ts";
import type { SendAnswer } from "../../src/protocol/workstream.ts";
import { openStore, type SqliteStore } from "../../src/store/index.ts";
import { Bus } from "../../src/workstream/bus.ts";
import { WorkstreamEngine } from "../../src/workstream/engine.ts";
import type { EngineServices, EngineSettings } from "../../src/workstream/services.ts";
import { ScriptedProvider } from "./scripted_provider.ts";

export interface EngineRigOptions {
  folder?: string;
  tools?: { definition: ToolDefinition; tool: Tool }[];
  provider?: ScriptedProvider;
  settings?: Partial<EngineSettings>;
  clock?: Clock;
  log?: Log;
  /** Nothing is secret where absent. */
  redact?: { text: EngineServices["redact"]; stream: EngineServices["redactStream"] };
  context_window?: number;
  capabilities?: Partial<ModelSettings["capabilities"]>;
  /** In place of the one model that `provider` plays. */
  models?: () => ModelRegistry;
  /** Beside the one that plays scripts. */
  providers?: Iterable<Provider>;
  /** Makes the servers of external tools, which put their tools into the catalog. */
  external_servers?: (catalog: Catalog, log: Log) => ExternalServers;
  tool_search?: ToolSearchSettings;
  /** Makes the sender of notifications; without it none is delivered. */
  deliver?: (store: Store) => EngineServices["deliver"];
}

const MODEL: ModelSettings = {
  alias: "default",
  provider: "scripted",
  model: "scripted",
  base_url: "",
  api_key: "",
  effort: "",
  temperature: null,
  price: null,
  stall_timeout_ms: 60_000,
  capabilities: {
    context_window: 128_000,
    max_output_tokens: 4096,
    supports_vision: false,
    supports_temperature: true,
    supports_web_search: false,
    supports_tool_search: false,
    supports_parallel_tools: true,
    effort_levels: [],
    thinking_mode: "none",
    token_param: "max_tokens",
  },
};

/** A model that the scripted provider plays; a test says what differs. */
export function engineModel(
  settings: Partial<Omit<ModelSettings, "capabilities">> = {},
  capabilities: Partial<ModelSettings["capabilities"]> = {},
): ModelSettings {
  return { ...MODEL, ...settings, capabilities: { ...MODEL.capabilities, ...capabilities } };
}

/** A registry of these models: the first is the default, the others are its fallbacks. */
export function engineModels(...models: [ModelSettings, ...ModelSettings[]]): () => ModelRegistry {
  const [first, ...others] = models;
  const byAlias = new Map(models.map((model) => [model.alias, model]));
  return () => ({
    default_alias: first.alias,
    fallback: others.map(({ alias }) => alias),
    agent_alias: null,
    models: byAlias,
  });
}

/** A workstream as a test looks at it. */
export interface WatchedWorkstream {
  ws_id: string;
  /** Everything that was told since the watch began. */
  frames: readonly Frame[];
  kept(): KeptEvent[];
  types(): KeptEvent["type"][];
  /** Resolves when the frames so far satisfy the predicate. */
  until(found: (frames: readonly Frame[]) => boolean): Promise<void>;
  /** Resolves when its own turn number `count` since the watch began has ended. */
  turnEnded(count?: number): Promise<void>;
  say(content: string, client_send_id?: string | null): Promise<SendAnswer | EngineFailure>;
  /** The first entry of this type; throws where none was told. */
  one<T extends KeptEvent["type"]>(type: T): Extract<KeptEvent, { type: T }>;
}

/** An engine under test and what it stands on. */
export interface EngineRig {
  engine: WorkstreamEngine;
  store: SqliteStore;
  provider: ScriptedProvider;
  catalog: Catalog;
  folder: string;
  bus: Bus;
  services: EngineServices;
  /** As after a kill: nothing is wound up, the store's file is let go. */
  crash: () => Promise<void>;
  close: () => Promise<void>;
  /** A workstream of its own, and what happens in it. */
  open: (request?: {
    auto_approve?: boolean;
    auto_approve_tools?: string[];
    ws_id?: string;
  }) => Promise<WatchedWorkstream>;
  watch: (ws_id: string) => WatchedWorkstream;
}

/** The real engine on a real store in a temporary folder, with a provider that plays scripts. */
export async function startEngine(options: EngineRigOptions = {}): Promise<EngineRig> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "turnstone-engine-"));
  const store = await openStore({ path: join(folder, "turnstone.db") });
  const provider = options.provider ?? new ScriptedProvider();
  const services = servicesOf(options, folder, store, provider);
  const { bus, catalog } = services;
  const engine = new WorkstreamEngine(services);
  return {
    engine,
    store,
    provider,
    catalog,
    folder,
    bus,
    services,
    async crash() {
      await engine.stop(0);
      await store.close();
    },
    async close() {
      await engine.stop(0);
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
    async open(request = {}) {
      const created = await engine.create({ user_id: null, ...request });
      if (!created.ok) throw new Error(created.error);
      return watch(engine, created.workstream.ws_id);
    },
    watch: (ws_id) => watch(engine, ws_id),
  };
}

function servicesOf(
  options: EngineRigOptions,
  folder: string,
  store: SqliteStore,
  provider: ScriptedProvider,
): EngineServices {
  const clock = options.clock ?? systemClock;
  const tools = options.tools ?? [];
  const model = engineModel({}, { context_window: options.context_window ?? 128_000, ...options.capabilities });
  const catalog = createCatalog(
    tools.map(({ definition }) => definition),
    tools.map(({ tool }) => tool),
    new Set(),
    options.tool_search,
  );
  return {
    store,
    bus: new Bus(),
    providers: new Map([provider, ...(options.providers ?? [])].map((one) => [one.name, one])),
    breakers: new Breakers(clock),
    clock,
    log: options.log ?? silentLog,
    catalog,
    loadAttachment: (attachment_id) => store.attachments.bytes(attachment_id),
    redact: options.redact?.text ?? ((text) => text),
    redactStream: options.redact?.stream ?? createStreamRedactors((text) => text, []),
    agent_max_turns: options.settings?.agent_max_turns ?? 50,
    spawner: {
      run: () => Promise.reject(new Error("This rig starts no programs.")),
      warm: () => {},
      close: () => Promise.resolve(),
    },
    ready: Promise.resolve(),
    settings: {
      skip_permissions: false,
      approval_timeout_s: 0,
      rules: [],
      tool_timeout_s: 120,
      truncation: null,
      agent_max_turns: 50,
      tell_owner_when_done: false,
      judge: { model_alias: null, auto_approve_below: null },
      budget: { tokens_per_day: 0, cost_usd_per_day: 0 },
      instructions: null,
      sandbox: null,
      ...options.settings,
    },
    models: options.models ?? engineModels(model),
    workspaceOf: (row) => Promise.resolve(openWorkspace(join(folder, "workspaces", row.ws_id))),
    promptInputs: (row, workspace) =>
      Promise.resolve({
        kind: row.kind,
        workspace,
        date: "2026-01-01",
        instructions: null,
        memory_index: null,
        shared: false,
        sandboxed: false,
      }),
    deliver:
      options.deliver?.(store) ??
      (() => Promise.resolve({ ok: false, notification_id: "", error: "no gateway", deliveries: [] })),
    external_servers: options.external_servers?.(catalog, options.log ?? silentLog) ?? null,
  };
}

/** Records the frames of a workstream and waits for them. */
export function watch(engine: WorkstreamEngine, ws_id: string): WatchedWorkstream {
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  engine.bus.subscribe(ws_id, (frame) => {
    frames.push(frame);
    for (const look of waiting) look();
  });
  const until = (found: (frames: readonly Frame[]) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!found(frames)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const kept = (): KeptEvent[] => frames.filter((frame) => frame.seq !== null).map((frame) => frame.event as KeptEvent);
  return {
    ws_id,
    frames,
    kept,
    until,
    types: () => kept().map((event) => event.type),
    turnEnded: (count = 1) =>
      until((all) => all.filter((frame) => frame.child === null && frame.event.type === "turn_ended").length >= count),
    say: (content, client_send_id = null) =>
      engine.send(ws_id, { content, client_send_id, attachments: [], sender: null, source: "api" }),
    one<T extends KeptEvent["type"]>(type: T): Extract<KeptEvent, { type: T }> {
      const found = kept().find((event) => event.type === type);
      if (found === undefined) throw new Error(`No ${type} was told.`);
      return found as Extract<KeptEvent, { type: T }>;
    },
  };
}
