import type { Command } from "./command.ts";

/** Asks for a DM at the end of the running turn; the wish is an entry, so that it outlives a restart. */
export const done: Command = {
  name: "done",
  usage: "/done",
  summary: "tells you by DM when the running turn ends",
  run({ actor, by }) {
    if (actor.conversation.turn === null) return Promise.resolve("Nothing is running.");
    return Promise.resolve({
      message: `${by.name} is told by DM when this is done.`,
      private: { tell_when_done: by.user_id },
    });
  },
};
