import type { PrivateData } from "../../contracts/store.ts";
import type { DecidedBy } from "../../protocol/approval.ts";
import type { Workstream } from "../actor.ts";

/** What a slash command is given: the words after its name, as they were typed. */
export interface CommandInput {
  actor: Workstream;
  words: string[];
  text: string;
  by: DecidedBy;
}

/** What people read, and what its entry keeps for the engine. */
export interface CommandOutput {
  message: string;
  private: PrivateData;
}

/** One slash command: a leaf. */
export interface Command {
  name: string;
  /** How it is called, such as `/model [alias]`. */
  usage: string;
  summary: string;
  /** Answers whoever asked and nobody else, and leaves no trace: it is about the person, not the conversation. */
  personal?(words: readonly string[]): boolean;
  /** What people read; a refusal is a sentence like any other answer. */
  run(input: CommandInput): Promise<string | CommandOutput>;
}
