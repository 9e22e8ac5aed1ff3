import { NO_SIGN_INS } from "../../contracts/mcp_sign_in.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { onTestFinished } from "vitest";
import { newApiToken } from "../../auth/api_token.ts";
import { mintJwt } from "../../auth/jwt.ts";
import { hashPassword } from "../../auth/password.ts";
import type { Store } from "../../contracts/store.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { createLog } from "../../lib/log.ts";
import { openWorkspace } from "../../lib/workspace.ts";
import { AUDIENCE_SERVER } from "../../protocol/auth.ts";
import { openStore } from "../../store/index.ts";
import { createApp } from "../app.ts";
import type { HttpOptions } from "../dependencies.ts";
import { JournalEngine } from "./journal_engine.ts";

export const SECRET = new TextEncoder().encode("a secret of at least thirty-two bytes");

/** For tests: a person with a token of every scope. */
export interface Person {
  user_id: string;
  token: string;
  token_id: string;
}

export interface Rig {
  app: FastifyInstance;
  store: Store;
  /** The folder of every workstream. */
  workspace: string;
  engine: JournalEngine;
  clock: Clock & { advance(milliseconds: number): void };
  /** Lines of the log. */
  log: string[];
  person(username: string, scopes?: string, password?: string): Promise<Person>;
  workstream(person: Person): Promise<string>;
  serviceToken(): Promise<string>;
  /** Listens on a free port and answers where. */
  listen(): Promise<string>;
}

/** For tests: the real app over the real store, gone when the test has finished. */
export async function createRig(options: Partial<HttpOptions> = {}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), "http-"));
  const store = await openStore({ path: join(folder, "turnstone.db") });
  const engine = new JournalEngine(store);
  const log: string[] = [];
  let ahead = 0;
  const clock: Clock = { now: () => Date.now() + ahead, sleep: () => Promise.resolve() };
  const app = createApp({
    engine,
    store,
    clock,
    log: createLog({
      level: "debug",
      format: "json",
      redact: (text) => text,
      write: (line) => log.push(line),
      now: Date.now,
    }),
    models: () => [{ alias: "default", model: "scripted", is_default: true }],
    workspaceOf: () => Promise.resolve(openWorkspace(join(folder, "workspace"))),
    signIns: NO_SIGN_INS,
    mcpServers: () => [{ server: "files", state: "ready", tools: 3 }],
    withoutOwnSecrets: (text) => text.replaceAll("the server's own secret", "[redacted]"),
    options: {
      host: "127.0.0.1",
      version: "1.2.3",
      node_id: "node-1",
      jwt_secret: SECRET,
      setup_code: "setup-code",
      trusted_proxies: [],
      allowed_hosts: [],
      rate_limit: null,
      ...options,
    },
  });
  onTestFinished(async () => {
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    app,
    store,
    workspace: openWorkspace(join(folder, "workspace")).root,
    engine,
    log,
    clock: { ...clock, advance: (milliseconds) => void (ahead += milliseconds) },
    async person(username, scopes = "read,write,approve", password) {
      const user_id = newId();
      const created = new Date().toISOString();
      const password_hash = password === undefined ? null : await hashPassword(password);
      await store.users.create({ user_id, username, display_name: username, password_hash, scopes, created });
      const { token, row } = newApiToken({ user_id, name: "test", scopes, created, expires: null });
      await store.users.createToken(row);
      return { user_id, token, token_id: row.token_id };
    },
    async workstream(person) {
      const result = await engine.create({ user_id: person.user_id });
      if (!result.ok) throw new Error(result.error);
      return result.workstream.ws_id;
    },
    serviceToken: () =>
      mintJwt(SECRET, clock, { sub: "gateway", scopes: "service", audience: AUDIENCE_SERVER, lifetime_s: 300 }),
    listen: () => app.listen({ port: 0, host: "127.0.0.1" }),
  };
}

/** For tests: the header that carries a token. */
export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}
