import type { Command } from "./command.ts";

/** Memories that one answer shows. */
const SHOWN_MAX = 50;

/** Shows what the agent remembers here. */
export const memory: Command = {
  name: "memory",
  usage: "/memory [words | forget KEY]",
  summary: "shows what is remembered, or forgets a key",
  personal: () => true,
  async run({ actor, words, text, by }) {
    const { memories } = actor.services.store;
    const reach = { user_id: by.user_id, workspace: actor.surroundings.workspace.root };
    if (words[0] === "forget") {
      const key = words.slice(1).join(" ");
      const found = (await memories.list(reach, 1000)).find((row) => row.key === key);
      if (found === undefined) return `Nothing is remembered under ${key || "an empty key"}.`;
      if (found.scope === "global") {
        return `${found.key} is remembered for everybody; only an administrator takes it away.`;
      }
      await memories.removeById(found.memory_id, reach);
      actor.surroundings.forgetPrompt();
      return `Forgotten: ${found.key}.`;
    }
    const rows =
      text.trim() === "" ? await memories.list(reach, SHOWN_MAX) : await memories.search(reach, text, SHOWN_MAX);
    if (rows.length === 0) return "Nothing is remembered that fits.";
    return rows.map((row) => `${row.key} = ${row.value.slice(0, 200)} (${row.scope})`).join("\n");
  },
};
