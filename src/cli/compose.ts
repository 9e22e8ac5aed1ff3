import { homedir, hostname } from "node:os";
import { dirname } from "node:path";
import { Breakers } from "../agent/breaker.ts";
import { createCatalog, type Catalog } from "../catalog/catalog.ts";
import { loadDefinitions } from "../catalog/definitions.ts";
import { commandEnvironment } from "../config/child_environment.ts";
import type { Config } from "../config/load.ts";
import { secretValues } from "../config/secrets.ts";
import { systemClock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { createLog, type Log } from "../lib/log.ts";
import { createOwnRedactor, createRedactor } from "../lib/redact.ts";
import { createStreamRedactors } from "../lib/redact_stream.ts";
import { createSpawner, type Spawner } from "../lib/spawn.ts";
import { createProviders } from "../providers/index.ts";
import { builtInTools, toolsWithoutBackEnd, type ToolOptions } from "../tools/index.ts";
import { createSandbox, type Isolation } from "../tools/sandbox.ts";
import type { SqliteStore } from "../store/index.ts";
import { Bus } from "../workstream/bus.ts";
import { createDelivery } from "../workstream/delivery.ts";
import { WorkstreamEngine } from "../workstream/engine.ts";
import type { EngineServices, EngineSettings } from "../workstream/services.ts";
import { servicesWithCrashPoints, storeWithCrashPoints, toolsWithCrashPoints } from "./crash_points.ts";
import { createExternalServers } from "./external_servers.ts";
import { createModelRegistry, watchModels } from "./model_registry.ts";
import { openConfiguredStore } from "./store_access.ts";
import { promptInputs, workspaceOf } from "./surroundings.ts";

/** Everything of a running server but its HTTP side. */
export interface Composition {
  engine: WorkstreamEngine;
  store: SqliteStore;
  log: Log;
  node_id: string;
  jwt_secret: string;
  /** Takes the values of our own secrets out of what people write. */
  withoutOwnSecrets: (text: string) => string;
  services: EngineServices;
  /** Lines for the person who started it. */
  notices: string[];
  /** Finds out whether commands can be kept in; turns wait for it. */
  trySandbox(): Promise<void>;
  /** Begins to connect MCP servers, and to look whether the models are there; waits for none. */
  startServers(): void;
  close(grace_ms: number): Promise<void>;
}

/** Constructs every part, once. Throws a `StoreError` when the store cannot be opened. */
export async function compose(config: Config, jwt_secret: string): Promise<Composition> {
  const clock = systemClock;
  const secrets = secretValues(config, jwt_secret);
  const redact = createRedactor(secrets);
  const log = openLog(config, redact);
  const store = storeWithCrashPoints(await openConfiguredStore(config));
  const providers = createProviders();
  const models = await createModelRegistry(config, providers);
  const env = commandEnvironment(config);
  const spawner = createSpawner({ env });
  const isolation: Isolation = { sandbox: null, required: true, reason: "The sandbox has not been tried yet." };
  const sandboxTried = Promise.withResolvers<void>();
  const settings = engineSettings(config, isolation);
  const catalog = composeCatalog(config, env, isolation);
  const servers = await createExternalServers(config, { store, spawner, clock, log, redact, catalog, env, jwt_secret });
  const services: EngineServices = {
    store,
    bus: new Bus(),
    providers,
    breakers: new Breakers(clock),
    clock,
    log,
    catalog,
    ready: sandboxTried.promise,
    loadAttachment: (attachment_id) => store.attachments.bytes(attachment_id),
    redact,
    redactStream: createStreamRedactors(redact, secrets),
    agent_max_turns: config.tools.agent_max_turns,
    spawner,
    settings,
    models: () => models.current(),
    workspaceOf: (row) => workspaceOf(row, config, store),
    promptInputs: (row, workspace) => promptInputs(row, workspace, settings, store),
    deliver: createDelivery({ store, clock, log, jwt_secret, redact }),
    external_servers: servers,
  };
  const engine = new WorkstreamEngine(servicesWithCrashPoints(services));
  const probing = new AbortController();
  return {
    engine,
    store,
    log,
    node_id: `${hostname() || "node"}_${newId().slice(0, 4)}`,
    jwt_secret,
    withoutOwnSecrets: createOwnRedactor(secrets),
    services,
    notices: modelNotices(models.found, models.current().default_alias),
    async trySandbox() {
      // Without a sandbox to try, the first command would wait for the helper's start.
      spawner.warm();
      Object.assign(isolation, await composeSandbox(config, env, spawner));
      if (isolation.sandbox === null) log.warn("sandbox.absent", { reason: isolation.reason });
      sandboxTried.resolve();
    },
    startServers() {
      servers?.start();
      watchModels(models, services, probing.signal).catch((error: unknown) =>
        log.error("model.probing_failed", { error }),
      );
    },
    async close(grace_ms) {
      probing.abort();
      await engine.stop(grace_ms);
      await servers?.close();
      await spawner.close();
      await store.close();
    },
  };
}

function openLog(config: Config, redact: (text: string) => string): Log {
  return createLog({
    level: config.log.level,
    format: config.log.format ?? (process.stdout.isTTY ? "text" : "json"),
    redact,
    write: (line) => process.stderr.write(line),
    now: () => systemClock.now(),
  });
}

function hiddenPaths(config: Config): string[] {
  return [config.server.data_dir, dirname(config.config_path)];
}

function composeCatalog(config: Config, env: Record<string, string>, isolation: Isolation): Catalog {
  const options: ToolOptions = {
    env,
    isolation,
    hidden_paths: hiddenPaths(config),
    python: config.tools.python,
    help_programs: config.tools.man_help_allow,
    allow_private: config.tools.allow_private,
    web_search: config.api,
  };
  const { search, search_threshold, search_max_results } = config.tools;
  return createCatalog(loadDefinitions(), toolsWithCrashPoints(builtInTools(options)), toolsWithoutBackEnd(options), {
    mode: search,
    threshold: search_threshold,
    max_results: search_max_results,
  });
}

function composeSandbox(config: Config, env: Record<string, string>, spawner: Spawner): Promise<Isolation> {
  const { mode, network } = config.sandbox;
  return createSandbox({ mode, network, hidden_paths: hiddenPaths(config), home: homedir(), env }, spawner);
}

function engineSettings(config: Config, isolation: Isolation): EngineSettings {
  const { tools, approval, session } = config;
  return {
    skip_permissions: tools.skip_permissions,
    approval_timeout_s: approval.timeout,
    rules: approval.rules,
    tool_timeout_s: tools.timeout,
    truncation: tools.truncation === 0 ? null : tools.truncation,
    agent_max_turns: tools.agent_max_turns,
    tell_owner_when_done: config.notify.on_done === "dm",
    budget: config.discord.budgets,
    judge: {
      model_alias: approval.judge,
      auto_approve_below: approval.auto_approve_below === "none" ? null : approval.auto_approve_below,
    },
    instructions: session.instructions === "" ? null : session.instructions,
    get sandbox() {
      return isolation.sandbox;
    },
  };
}

function modelNotices(found: string | null, alias: string): string[] {
  if (found !== null) return [`Model: a local server at ${found} was found and is used.`];
  if (alias !== "demo") return [];
  return ["Model: none is configured, so a small demo answers; README.md says how to connect one."];
}
