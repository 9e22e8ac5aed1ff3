import { mkdir } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { dirname, join } from "node:path";
import { Breakers } from "../agent/breaker.ts";
import { createCatalog } from "../catalog/catalog.ts";
import { loadDefinitions } from "../catalog/definitions.ts";
import type { Config } from "../config/load.ts";
import { secretValues } from "../config/secrets.ts";
import type { Store, WorkstreamRow } from "../contracts/store.ts";
import { systemClock } from "../lib/clock.ts";
import { scrubEnvironment } from "../lib/environment.ts";
import { newId } from "../lib/ids.ts";
import { createLog, type Log } from "../lib/log.ts";
import { renderMemoryIndex } from "../lib/memory_index.ts";
import { createRedactor } from "../lib/redact.ts";
import { createSpawner } from "../lib/spawn.ts";
import { openWorkspace, type Workspace } from "../lib/workspace.ts";
import { createProviders } from "../providers/index.ts";
import { builtInTools, toolsWithoutBackEnd, type ToolOptions } from "../tools/index.ts";
import { createSandbox, type Isolation } from "../tools/sandbox.ts";
import { Bus } from "../workstream/bus.ts";
import { createDelivery } from "../workstream/delivery.ts";
import { WorkstreamEngine } from "../workstream/engine.ts";
import type { EngineServices } from "../workstream/services.ts";
import { servicesWithCrashPoints, storeWithCrashPoints, toolsWithCrashPoints } from "./crash_points.ts";
import { createModelRegistry } from "./model_registry.ts";
import { openConfiguredStore } from "./store_access.ts";

/** Memories that the index of a prompt is made from; its own limit is in bytes. */
const INDEXED_MEMORIES_MAX = 100;

/** Everything of a running server but its HTTP side. */
export interface Composition {
  engine: WorkstreamEngine;
  store: Store;
  log: Log;
  node_id: string;
  jwt_secret: string;
  services: EngineServices;
  /** Lines for the person who started it. */
  notices: string[];
  /** Finds out whether commands can be kept in; turns wait for it. */
  trySandbox(): Promise<void>;
  close(grace_ms: number): Promise<void>;
}

/** Constructs every part, once. Throws a `StoreError` when the store cannot be opened. */
export async function compose(config: Config, jwt_secret: string): Promise<Composition> {
  const clock = systemClock;
  const redact = createRedactor(secretValues(config, jwt_secret));
  const log = createLog({
    level: config.log.level,
    format: config.log.format ?? (process.stdout.isTTY ? "text" : "json"),
    redact,
    write: (line) => process.stderr.write(line),
    now: () => clock.now(),
  });
  const store = storeWithCrashPoints(await openConfiguredStore(config));
  const providers = createProviders();
  const { registry, found } = await createModelRegistry(config, providers);
  const env = scrubEnvironment(process.env, config.tools.environment_allow);
  const spawner = createSpawner({ env });
  const hidden_paths = [config.server.data_dir, dirname(config.config_path)];
  const isolation: Isolation = { sandbox: null, required: true, reason: "The sandbox has not been tried yet." };
  const tool_options: ToolOptions = {
    env,
    isolation,
    hidden_paths,
    python: config.tools.python,
    help_programs: config.tools.man_help_allow,
    allow_private: config.tools.allow_private,
    web_search: config.api,
  };
  const sandboxTried = Promise.withResolvers<void>();
  const services: EngineServices = {
    store,
    bus: new Bus(),
    providers,
    breakers: new Breakers(clock),
    clock,
    log,
    catalog: createCatalog(loadDefinitions(), toolsWithCrashPoints(builtInTools(tool_options)), toolsWithoutBackEnd(tool_options)),
    ready: sandboxTried.promise,
    loadAttachment: (attachment_id) => store.attachments.bytes(attachment_id),
    redact,
    agent_max_turns: config.tools.agent_max_turns,
    spawner,
    settings: {
      skip_permissions: config.tools.skip_permissions,
      approval_timeout_s: config.approval.timeout,
      rules: config.approval.rules,
      tool_timeout_s: config.tools.timeout,
      truncation: config.tools.truncation === 0 ? null : config.tools.truncation,
      agent_max_turns: config.tools.agent_max_turns,
      instructions: config.session.instructions === "" ? null : config.session.instructions,
      get sandbox() {
        return isolation.sandbox;
      },
    },
    models: () => registry,
    workspaceOf: (row) => workspaceOf(row, config, store),
    promptInputs: async (row, workspace) => ({
      kind: row.kind,
      workspace,
      date: row.created.slice(0, 10),
      instructions: config.session.instructions === "" ? null : config.session.instructions,
      memory_index: await memoryIndex(row, workspace, store),
      shared: (await store.channels.routesOfWorkstream(row.ws_id)).length > 0,
      sandboxed: isolation.sandbox !== null,
    }),
    deliver: createDelivery({ store, clock, log, jwt_secret, redact }),
    searchTools: () => ({ found: [], total: 0, unavailable_servers: [] }),
  };
  const engine = new WorkstreamEngine(servicesWithCrashPoints(services));
  return {
    engine,
    store,
    log,
    node_id: `${hostname() || "node"}_${newId().slice(0, 4)}`,
    jwt_secret,
    services,
    notices: modelNotices(found, registry.default_alias),
    async trySandbox() {
      const { mode, network } = config.sandbox;
      const tried = await createSandbox({ mode, network, hidden_paths, home: homedir(), env }, spawner);
      Object.assign(isolation, tried);
      if (tried.sandbox === null) log.warn("sandbox.absent", { reason: tried.reason });
      sandboxTried.resolve();
    },
    async close(grace_ms) {
      await engine.stop(grace_ms);
      await spawner.close();
      await store.close();
    },
  };
}

function modelNotices(found: string | null, alias: string): string[] {
  if (found !== null) return [`Model: a local server at ${found} was found and is used.`];
  return alias === "demo" ? ["Model: none is configured, so a small demo answers; README.md says how to connect one."] : [];
}

/** The folder of the channel that shows the workstream, else the configured one, else one of its own. */
async function workspaceOf(row: WorkstreamRow, config: Config, store: Store): Promise<Workspace> {
  const off_limits = [config.server.data_dir, dirname(config.config_path)];
  const { root, channels } = config.workspace;
  const names = Object.keys(channels).length === 0 ? [] : await store.channels.routesOfWorkstream(row.ws_id);
  const of_channel = names
    .flatMap((route) => [route.channel_id, route.parent_channel_id ?? ""])
    .map((id) => (Object.hasOwn(channels, id) ? channels[id] : undefined))
    .find((folder) => folder !== undefined);
  const folder = of_channel ?? root ?? join(config.server.data_dir, "workspaces", row.ws_id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return openWorkspace(folder, { off_limits });
}

async function memoryIndex(row: WorkstreamRow, workspace: string, store: Store): Promise<string | null> {
  const reach = { user_id: row.user_id, workspace };
  const memories = await store.memories.list(reach, INDEXED_MEMORIES_MAX);
  if (memories.length === 0) return null;
  return renderMemoryIndex(memories, await store.memories.count(reach));
}

