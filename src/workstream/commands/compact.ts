import { compactIfNeeded } from "../../agent/compaction.ts";
import { createTurnPort } from "../turn_port_of_actor.ts";
import type { Command } from "./command.ts";

/** Summarising a long conversation takes a model its time; more than this is a fault. */
const COMPACT_TIMEOUT_MS = 300_000;

/** Replaces the older part of the conversation by a summary. */
export const compact: Command = {
  name: "compact",
  usage: "/compact",
  summary: "replaces the older part of the conversation by a summary",
  async run({ actor }) {
    if (actor.is_busy) return "A turn is running; it compacts by itself when it must. Try again when it has ended.";
    const port = createTurnPort(actor, AbortSignal.timeout(COMPACT_TIMEOUT_MS));
    const before = actor.row.context_tokens;
    const outcome = await compactIfNeeded(port, actor.services, true);
    switch (outcome) {
      case "compacted":
        return `The conversation was compacted from about ${before} to about ${actor.row.context_tokens} tokens.`;
      case "failed":
        return "Summarising the conversation failed, so it stays as it is. Try again, or choose another model with /model.";
      case "not_needed":
      case "hopeless":
        return "There is nothing to compact yet.";
    }
  },
};
