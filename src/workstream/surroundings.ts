import { systemPrompt } from "../agent/prompt.ts";
import type { WorkstreamRow } from "../contracts/store.ts";
import type { Workspace } from "../lib/workspace.ts";
import type { EngineServices } from "./services.ts";

/**
 * Where a workstream works and what its model is told about it. Both are found out when they are first needed, then
 * kept.
 */
export class Surroundings {
  readonly #row: WorkstreamRow;
  readonly #services: EngineServices;
  readonly #openWorkspace: () => Promise<Workspace>;
  #workspace: Workspace | null = null;
  #prompt: string | null = null;

  constructor(row: WorkstreamRow, services: EngineServices, openWorkspace: () => Promise<Workspace>) {
    this.#row = row;
    this.#services = services;
    this.#openWorkspace = openWorkspace;
  }

  /** A turn or command opens it first. */
  get workspace(): Workspace {
    if (this.#workspace === null) {
      throw new Error(`The workspace of ${this.#row.ws_id} was asked for before it was opened.`);
    }
    return this.#workspace;
  }

  async open(): Promise<void> {
    this.#workspace ??= await this.#openWorkspace();
  }

  /** The system prompt; it stays the same until something that must change it calls `forgetPrompt`. */
  async prompt(): Promise<string> {
    this.#prompt ??= systemPrompt(await this.#services.promptInputs(this.#row, this.workspace.root));
    return this.#prompt;
  }

  forgetPrompt(): void {
    this.#prompt = null;
  }
}
