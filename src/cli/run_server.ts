import { randomBytes } from "node:crypto";
import { prepareDataDirectory } from "../config/data_directory.ts";
import type { Config } from "../config/load.ts";
import { createApp } from "../http/app.ts";
import { systemClock } from "../lib/clock.ts";
import { describeError } from "../lib/log.ts";
import type { ModelsAnswer } from "../protocol/answers.ts";
import { StoreError } from "../store/index.ts";
import { NO_SIGN_INS } from "../contracts/mcp_sign_in.ts";
import { compose, type Composition } from "./compose.ts";
import { answersWithCrashPoints } from "./crash_points.ts";
import { packageVersion } from "./package.ts";
import { keepRetention } from "./retention.ts";
import type { Terminal } from "./terminal.ts";
import { logUncaught } from "./uncaught.ts";

/** How long running calls may go on after a stop was asked for. */
const STOP_GRACE_MS = 10_000;

/** Runs the server until it is told to stop. Answers the exit code; a start that cannot be is one sentence. */
export async function runServer(config: Config, terminal: Terminal, stop: AbortSignal): Promise<number> {
  const prepared = prepareDataDirectory(config);
  if (!prepared.ok) return refused(terminal, prepared.error);
  let parts: Composition;
  try {
    parts = await compose(config, prepared.jwt_secret);
  } catch (error) {
    if (error instanceof StoreError) return refused(terminal, error.message);
    throw error;
  }
  logUncaught(parts.log);
  const setup_code = randomBytes(6).toString("hex");
  const app = createApp({
    engine: parts.engine,
    store: parts.store,
    clock: systemClock,
    log: parts.log,
    withoutOwnSecrets: parts.withoutOwnSecrets,
    mcpServers: () =>
      (parts.services.external_servers?.status() ?? []).map(({ server, state, tools }) => ({ server, state, tools })),
    signIns: parts.services.external_servers?.sign_ins ?? NO_SIGN_INS,
    models: () => modelsOf(parts),
    workspaceOf: (row) => parts.services.workspaceOf(row),
    options: {
      host: config.server.host,
      version: packageVersion(),
      node_id: parts.node_id,
      jwt_secret: new TextEncoder().encode(prepared.jwt_secret),
      setup_code,
      trusted_proxies: config.server.trusted_proxies,
      allowed_hosts: config.server.allowed_hosts,
      rate_limit: config.ratelimit.enabled
        ? { requests_per_second: config.ratelimit.requests_per_second, burst: config.ratelimit.burst }
        : null,
    },
  });
  answersWithCrashPoints(app);
  try {
    await app.listen({ host: config.server.host, port: config.server.port });
  } catch (error) {
    await parts.close(0);
    return refused(terminal, listenProblem(error, config));
  }
  await announce(parts, config, setup_code, terminal);
  parts.startServers();
  await parts.trySandbox();
  await parts.engine.recover();
  void keepRetention(parts.store, config.session.retention_days, parts.services, stop);
  await stopped(stop);
  await Promise.all([app.close(), parts.engine.stop(STOP_GRACE_MS)]);
  await parts.close(0);
  return 0;
}

function modelsOf({ services }: Composition): ModelsAnswer["models"] {
  const { models, default_alias } = services.models();
  return [...models.values()].map(({ alias, model }) => ({ alias, model, is_default: alias === default_alias }));
}

function refused(terminal: Terminal, sentence: string): number {
  terminal.fail(sentence);
  return 1;
}

function listenProblem(error: unknown, config: Config): string {
  const { host, port } = config.server;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "EADDRINUSE") {
    return `Port ${port} on ${host} is in use; stop the program that has it, or choose another with --port or TURNSTONE_PORT.`;
  }
  return `The server cannot listen on ${host}:${port} (${describeError(error)}); check --host and --port.`;
}

async function announce(parts: Composition, config: Config, setup_code: string, terminal: Terminal): Promise<void> {
  for (const notice of parts.notices) terminal.print(notice);
  // Who was started by the launcher leaves it to the launcher to say where everything is.
  if (process.send === undefined) terminal.print(`Server: http://${config.server.host}:${config.server.port}`);
  if ((await parts.store.users.count()) === 0) {
    terminal.print(`First user: POST /v1/api/auth/setup; from another machine the setup code is ${setup_code}.`);
  }
  process.send?.({ type: "ready" });
}

function stopped(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener("abort", () => resolve(), { once: true });
  });
}
