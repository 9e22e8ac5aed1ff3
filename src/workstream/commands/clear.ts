import type { Command } from "./command.ts";

/** Begins afresh: the model forgets the conversation, the journal keeps it. */
export const clear: Command = {
  name: "clear",
  usage: "/clear",
  summary: "lets the model forget the conversation so far",
  async run({ actor }) {
    if (actor.is_busy) return "A turn is running; stop it first, or wait until it ends.";
    const { turn_starts } = actor.conversation;
    if (turn_starts.length === 0) return "There is nothing to forget yet.";
    await actor.append({
      entries: [{ event: { type: "rewound", kept_after_seq: 0, turns: turn_starts.length } }],
      state: "idle",
      context_tokens: 0,
    });
    actor.surroundings.forgetPrompt();
    return "The model starts afresh; files and memories stay as they are.";
  },
};
