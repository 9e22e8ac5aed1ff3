import type { Command } from "./command.ts";

const TITLE_LENGTH_MAX = 80;

/** Names the workstream. */
export const title: Command = {
  name: "title",
  usage: "/title TEXT",
  summary: "names this workstream",
  async run({ actor, text }) {
    const wanted = text.trim().replace(/\s+/g, " ");
    if (wanted === "" || wanted.length > TITLE_LENGTH_MAX) return `A title has 1 to ${TITLE_LENGTH_MAX} characters.`;
    const { ws_id } = actor.row;
    await actor.services.store.workstreams.update(ws_id, { title: wanted });
    actor.row.title = wanted;
    actor.services.bus.publishGlobal({ type: "ws_rename", ws_id, name: wanted });
    return `This workstream is now called "${wanted}".`;
  },
};
