import { randomUUID } from "node:crypto";
import { visibleLine } from "../../lib/visible.ts";
import type { McpRequestAnswer } from "../../protocol/mcp_request.ts";
import { pause } from "../supervisor/readiness.ts";
import type { Answer, ChatClient } from "./client.ts";
import type { Decision, Question } from "./questions.ts";
import { decide, followQuestions, promptFor } from "./questions.ts";
import type { ShownEvent, Transcript } from "./transcript.ts";

export interface ChatScreen {
  /** Text above the line that is being written. */
  write(text: string): void;
  /** The prompt may have changed. */
  refresh(): void;
}

const RECONNECT_FIRST_MS = 250;
const RECONNECT_MAX_MS = 10_000;
const LEAVE = new Set(["/quit", "/exit", "/q"]);

/** One conversation in a terminal: what was said, what is asked, whether the agent works. */
export class ChatSession {
  readonly #client: ChatClient;
  readonly #ws_id: string;
  readonly #transcript: Transcript;
  readonly #screen: ChatScreen;
  #questions: readonly Question[] = [];
  /** Messages that were accepted and have not shown up in the stream. */
  #pending_sends = 0;
  #running = false;
  #wake: () => void = () => {};

  constructor(client: ChatClient, ws_id: string, transcript: Transcript, screen: ChatScreen) {
    this.#client = client;
    this.#ws_id = ws_id;
    this.#transcript = transcript;
    this.#screen = screen;
  }

  get prompt(): string {
    return promptFor(this.#questions[0]);
  }

  /** Whether a turn runs or is about to. */
  get busy(): boolean {
    return this.#running || this.#pending_sends > 0;
  }

  get asking(): boolean {
    return this.#questions.length > 0;
  }

  /** Takes a line that the person entered. Answers false when it asks to leave. */
  async enter(line: string): Promise<boolean> {
    const text = line.trim();
    if (LEAVE.has(text)) return false;
    const [question] = this.#questions;
    const fills_in = question?.kind === "mcp" && question.field !== null;
    if (text.startsWith("/") && !fills_in) this.#sayFailure(await this.#client.command(this.#ws_id, text));
    else if (question !== undefined) await this.#settle(decide(question, text));
    else if (text !== "") await this.#send(line);
    return true;
  }

  /** Takes a single key on an empty line; true when it answered a question. */
  press(key: string): boolean {
    const [question] = this.#questions;
    if (question?.kind !== "approval" || !/^[yna]$/.test(key)) return false;
    void this.#settle(decide(question, key));
    return true;
  }

  async stopTurn(): Promise<void> {
    this.#sayFailure(await this.#client.cancel(this.#ws_id));
  }

  /** Follows the workstream from the entry after `after` until the signal ends it, through restarts of the server. */
  async follow(after: string, signal: AbortSignal): Promise<void> {
    let last = after;
    let delay = RECONNECT_FIRST_MS;
    while (!signal.aborted) {
      try {
        for await (const { event, id } of this.#client.events(this.#ws_id, last, signal)) {
          delay = RECONNECT_FIRST_MS;
          if (id !== undefined) last = id;
          this.#take(event);
        }
      } catch (error) {
        if (signal.aborted) return;
        const why = error instanceof Error ? error.message : String(error);
        if (delay === RECONNECT_FIRST_MS) this.#screen.write(`(connection lost, trying again: ${why})\n`);
      }
      await pause(delay, signal);
      delay = Math.min(delay * 2, RECONNECT_MAX_MS);
    }
  }

  /** Resolves when nothing more comes unless somebody does something. */
  async idle(signal: AbortSignal): Promise<void> {
    while (this.busy && !this.asking && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  #take(event: ShownEvent): void {
    this.#questions = followQuestions(this.#questions, event);
    if (event.type === "user_turn") {
      this.#pending_sends = Math.max(0, this.#pending_sends - event.client_send_ids.length);
      this.#running = true;
    }
    if (event.type === "state_change") this.#running = event.state !== "idle" && event.state !== "error";
    if (event.type === "turn_ended") this.#running = false;
    const text = this.#transcript.show(event);
    if (text !== "") this.#screen.write(text);
    this.#screen.refresh();
    this.#wake();
  }

  async #send(message: string): Promise<void> {
    this.#pending_sends += 1;
    const answer = await this.#client.send(this.#ws_id, message, randomUUID());
    if (answer.ok && answer.value.status === "ok") return;
    if (answer.ok && answer.value.status === "queued") {
      return this.#screen.write("(queued: it joins at the next step)\n");
    }
    this.#pending_sends -= 1;
    this.#wake();
    if (answer.ok) this.#screen.write("The queue is full; wait until the agent has caught up.\n");
    else this.#sayFailure(answer);
  }

  async #settle(decision: Decision): Promise<void> {
    switch (decision.kind) {
      case "approval":
        return this.#answered(await this.#client.approve(this.#ws_id, decision.body));
      case "plan":
        return this.#answered(await this.#client.review(this.#ws_id, decision.review_id, decision.feedback));
      case "mcp":
        return this.#mcpAnswered(await this.#client.answerMcpRequest(this.#ws_id, decision.request_id, decision.body));
      case "goes_on":
        this.#questions = [decision.question, ...this.#questions.slice(1)];
        return this.#screen.refresh();
      case "unclear":
        return this.#screen.write(`Please answer ${this.prompt}\n`);
      default:
        return decision satisfies never;
    }
  }

  /** The event that says so may take a moment; meanwhile the next line is not an answer to the same question. */
  #answered(answer: Answer<unknown>): void {
    if (answer.ok) this.#questions = this.#questions.slice(1);
    else this.#sayFailure(answer);
  }

  /** A form with a value that does not fit, or without one that is asked for, is filled in again. */
  #mcpAnswered(answer: Answer<McpRequestAnswer>): void {
    if (answer.ok && answer.value.status === "ok") return this.#answered(answer);
    const [question, ...others] = this.#questions;
    if (question?.kind === "mcp") this.#questions = [{ ...question, field: null }, ...others];
    if (answer.ok) this.#screen.write(`Without a value: ${answer.value.missing.map(visibleLine).join(", ")}\n`);
    else this.#sayFailure(answer);
    this.#screen.refresh();
  }

  #sayFailure(answer: Answer<unknown>): void {
    if (!answer.ok) this.#screen.write(`${answer.error}\n`);
  }
}
