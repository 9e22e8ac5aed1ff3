import type { RefreshReport } from "../contracts/external_tools.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { Asking } from "./asking.ts";
import { connectProblem, failureOf, type Outcome } from "./outcome.ts";
import { Refresher } from "./refresher.ts";
import { openSession, type Session } from "./session.ts";
import type { Access } from "./sign_in/required.ts";
import type { McpDependencies, ServerSettings } from "./settings.ts";
import { readToolList, type ListedTool, type ToolList, withoutSecrets } from "./tool_list.ts";

export type ConnectionState = "connecting" | "ready" | "unavailable" | "sign_in_required";

/** A connection that held for this long starts its pauses from the shortest again. */
const STEADY_MS = 60_000;

/**
 * One server, from the first attempt to the stop: connects, reads its tools, notices when it goes away, and comes back.
 * Nothing here throws at others; what goes wrong is a state with a reason.
 */
export class Connection {
  readonly name: string;
  /** The calls that run, and what the server asks people meanwhile. */
  readonly asking: Asking;
  /** Null for a server that needs none, or has it in its settings. */
  readonly #access: Access | null;
  readonly #settings: ServerSettings;
  readonly #dependencies: McpDependencies;
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  readonly #refresher: Refresher;
  /** Let go when someone does not want to wait for the end of a pause. */
  #pause = Promise.withResolvers<void>();
  #turn = Promise.withResolvers<void>();
  #session: Session | null = null;
  #state: ConnectionState = "connecting";
  #problem: string | null = null;
  #list: ToolList = { tools: [], left_out: [] };
  #suspecting = false;
  #hurry = false;
  #running: Promise<void> = Promise.resolve();

  constructor(
    name: string,
    settings: ServerSettings,
    dependencies: McpDependencies,
    access: Access | null,
    onChange: () => void,
  ) {
    this.name = name;
    this.#access = access;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#log = dependencies.log.child({ server: name });
    this.asking = new Asking(name, dependencies.redact, this.#log);
    this.#onChange = onChange;
    this.#refresher = new Refresher({
      debounce_ms: dependencies.limits.debounce_ms,
      interval_s: dependencies.refresh_interval_s,
      retry_ms: dependencies.limits.list_timeout_ms,
      refresh: () => this.#relist(),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Why it is not ready, or what was wrong with the last refresh. */
  get problem(): string | null {
    return this.#problem;
  }

  /** The last good list; the same array until it changes. */
  get tools(): readonly ListedTool[] {
    return this.#list.tools;
  }

  get leftOut(): readonly string[] {
    return this.#list.left_out;
  }

  get session(): Session | null {
    return this.#session;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when it is ready or known not to be, or after the given time. */
  async settled(limit_ms: number): Promise<ConnectionState> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), limit_ms);
    const over = new Promise((resolve) => deadline.signal.addEventListener("abort", resolve, { once: true }));
    while (this.#state === "connecting" && !deadline.signal.aborted) await Promise.race([this.#turn.promise, over]);
    clearTimeout(timer);
    return this.#state;
  }

  /** Sends a request; a session that the server forgot is opened anew and the request sent once more. */
  async request(
    method: string,
    params: JsonObject,
    options: RequestOptions & { signal: AbortSignal },
  ): Promise<Outcome> {
    const first = await this.#request(method, params, options);
    if (first.status !== "session_expired") return first;
    await this.settled(this.#dependencies.limits.connect_deadline_ms);
    const second = await this.#request(method, params, options);
    if (second.status !== "session_expired") return second;
    return { status: "lost", error: "it does not keep its session", reached: false };
  }

  async #request(
    method: string,
    params: JsonObject,
    options: RequestOptions & { signal: AbortSignal },
  ): Promise<Outcome> {
    const session = this.#session;
    if (session === null) return { status: "lost", error: this.#problem ?? "it is not connected yet", reached: false };
    try {
      return { status: "answered", result: await session.request(method, params, options) };
    } catch (error) {
      if (this.#access?.refused === true && !options.signal.aborted) {
        await session.close(this.#dependencies.limits.close_timeout_ms, false);
        return { status: "sign_in_required" };
      }
      const failure = failureOf(error, session.isOpen, options.signal);
      if (failure.status === "session_expired") this.#reopen(session);
      if (failure.status === "lost" && session.isOpen) this.#suspect(session);
      if (failure.status === "lost" && session.howEnded !== null) return { ...failure, error: session.howEnded };
      return failure;
    }
  }

  /** Reads the tools again, or connects again where there is no connection. */
  async refresh(): Promise<RefreshReport> {
    const before = new Set(this.tools.map((tool) => tool.definition.name));
    if (this.#session === null) {
      if (this.#state !== "connecting") this.#setState("connecting", null);
      this.#hurry = true;
      this.#pause.resolve();
      await this.settled(this.#dependencies.limits.connect_deadline_ms);
      if (this.#session === null) {
        return { server: this.name, ok: false, error: this.#problem ?? "It has not answered yet." };
      }
    } else if (!(await this.#refresher.now())) {
      return { server: this.name, ok: false, error: this.#problem ?? "It did not answer." };
    }
    const now = this.tools.map((tool) => tool.definition.name);
    const added = now.filter((name) => !before.has(name));
    return { server: this.name, ok: true, added, removed: [...before].filter((name) => !now.includes(name)) };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#refresher.stop();
    this.#pause.resolve();
    await this.#session?.close(this.#dependencies.limits.close_timeout_ms, true);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, limits } = this.#dependencies;
    let pause_ms = limits.pause_ms;
    while (!this.#stop.signal.aborted) {
      const session = await this.#open();
      if (session !== null) {
        const since = clock.now();
        await this.#hold(session);
        if (clock.now() - since >= STEADY_MS) pause_ms = limits.pause_ms;
      }
      if (this.#stop.signal.aborted) break;
      if (!this.#hurry) await this.#wait(this.#state === "sign_in_required" ? null : pause_ms);
      pause_ms = this.#hurry ? limits.pause_ms : Math.min(pause_ms * 2, limits.pause_max_ms);
      this.#hurry = false;
    }
  }

  /** One attempt; null when it failed. After the deadline others are told, but it goes on. */
  async #open(): Promise<Session | null> {
    const { limits } = this.#dependencies;
    const slow = setTimeout(() => {
      const seconds = Math.round(limits.connect_deadline_ms / 1000);
      this.#setState("unavailable", `It has not answered within ${seconds} s; it is still waited for.`);
    }, limits.connect_deadline_ms);
    let session: Session | null = null;
    try {
      session = await openSession(
        this.#settings,
        { toolsChanged: () => this.#refresher.soon(), trouble: (error) => this.#onTrouble(session, error) },
        { asking: this.asking, access: this.#access },
        this.#dependencies,
        this.#log,
        this.#stop.signal,
      );
      this.#take(await readToolList(this.name, session, limits.list_timeout_ms, this.#stop.signal));
      return session;
    } catch (error) {
      await session?.close(limits.close_timeout_ms, false);
      if (this.#access?.refused === true) this.#setState("sign_in_required", SIGN_IN);
      else this.#setState("unavailable", this.#words(connectProblem(error)));
      return null;
    } finally {
      clearTimeout(slow);
    }
  }

  /** From the handshake to the end of the session. */
  async #hold(session: Session): Promise<void> {
    this.#session = session;
    this.#setState("ready", null);
    this.#log.info("mcp.connected", { tools: this.#list.tools.length, left_out: this.#list.left_out });
    this.#refresher.start(!session.pushesTools);
    const looking = session.howEnded === null && this.#settings.command === null ? this.#keepLooking(session) : null;
    await session.closed;
    if (looking !== null) clearInterval(looking);
    this.#refresher.stop();
    this.#session = null;
    if (this.#stop.signal.aborted) return;
    if (this.#access?.refused === true) return this.#setState("sign_in_required", SIGN_IN);
    const why = this.#words(session.howEnded ?? "The connection was lost.");
    this.#setState(this.#hurry ? "connecting" : "unavailable", why);
  }

  /** A server on the network goes away without a word. */
  #keepLooking(session: Session): NodeJS.Timeout {
    return setInterval(() => this.#suspect(session), this.#dependencies.limits.ping_interval_ms).unref();
  }

  #onTrouble(session: Session | null, error: Error): void {
    this.#log.debug("mcp.trouble", { error: describeError(error) });
    if (session !== null && this.#settings.command === null) this.#suspect(session);
  }

  /** Asks whether the server is still there, and ends the session when it is not. */
  #suspect(session: Session): void {
    if (this.#suspecting || this.#session !== session) return;
    this.#suspecting = true;
    const { ping_timeout_ms, close_timeout_ms } = this.#dependencies.limits;
    session
      .ping(ping_timeout_ms)
      .catch(async (error: unknown) => {
        const failure = failureOf(error, session.isOpen, this.#stop.signal);
        // A server that refuses a ping is there.
        if (failure.status === "refused" || failure.status === "cancelled") return;
        if (failure.status === "session_expired") this.#hurry = true;
        await session.close(close_timeout_ms, false);
      })
      .finally(() => (this.#suspecting = false));
  }

  #reopen(session: Session): void {
    if (this.#session !== session) return;
    this.#hurry = true;
    this.#session = null;
    this.#setState("connecting", null);
    void session.close(this.#dependencies.limits.close_timeout_ms, false);
  }

  /** Answers whether the list could be read; a failure keeps the last good one. */
  async #relist(): Promise<boolean> {
    const session = this.#session;
    if (session === null) return false;
    try {
      const list = await readToolList(this.name, session, this.#dependencies.limits.list_timeout_ms, this.#stop.signal);
      if (this.#session !== session) return false;
      const changed = this.#take(list);
      if (changed || this.#problem !== null) this.#setState("ready", null);
      return true;
    } catch (error) {
      const failure = failureOf(error, session.isOpen, this.#stop.signal);
      if (failure.status === "session_expired") this.#reopen(session);
      if (failure.status === "lost") this.#suspect(session);
      if (this.#session !== session || this.#stop.signal.aborted) return false;
      this.#setState(
        "ready",
        this.#words(`Its tools could not be read again (${describeError(error)}); the last list stays.`),
      );
      return false;
    }
  }

  /** Answers whether anything is new. The old array stays where nothing is, since others know it by its identity. */
  #take(told: ToolList): boolean {
    const list = withoutSecrets(told, this.#dependencies.redact);
    if (JSON.stringify(list) === JSON.stringify(this.#list)) return false;
    this.#list = list;
    return true;
  }

  #setState(state: ConnectionState, problem: string | null): void {
    if (this.#stop.signal.aborted) return;
    const worse = problem !== null && problem !== this.#problem;
    this.#state = state;
    this.#problem = problem;
    if (worse) this.#log.warn("mcp.unavailable", { state, problem });
    this.#turn.resolve();
    this.#turn = Promise.withResolvers();
    this.#onChange();
  }

  #words(text: string): string {
    return this.#dependencies.redact(text).slice(0, PROBLEM_LENGTH_MAX);
  }

  /** A pause that a person, or the stop, can end; null: nothing else can. */
  async #wait(pause_ms: number | null): Promise<void> {
    this.#pause = Promise.withResolvers();
    if (pause_ms === null) return this.#pause.promise;
    // Spread, so that many servers do not come back at once.
    const timer = setTimeout(() => this.#pause.resolve(), pause_ms * (0.75 + Math.random() / 2));
    timer.unref();
    await this.#pause.promise;
    clearTimeout(timer);
  }
}

const SIGN_IN = "People sign in to it one by one.";

/** A problem is a line for people, whatever a server says. */
const PROBLEM_LENGTH_MAX = 500;
