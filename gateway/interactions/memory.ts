import type { Gateway } from "../gateway.ts";
import type { Press } from "../channel_adapter.ts";
import { clip, inlineCode, plainText } from "../render/defuse.ts";
import { tell, tellRefusal } from "./common.ts";
import { interaction } from "./interaction.ts";

const SHOWN_MAX = 20;

/** What the agent remembers of this person; seen by this person alone. */
export const memoryCommand = interaction<string>({
  parse: (press) => (press.kind === "command" && /^memory (list|forget)$/.test(press.id) ? press.id : null),
  async run(gateway, press, id) {
    await press.defer({ private: true });
    await (id === "memory list" ? list(gateway, press) : forget(gateway, press));
  },
  async suggest(gateway, { person, typed }) {
    const memories = await gateway.server.memories(person);
    if (!memories.ok) return [];
    const fitting = memories.value.memories.filter((memory) => memory.key.toLowerCase().includes(typed.toLowerCase()));
    return fitting.map(({ key }) => ({ name: clip(key, 100), value: clip(key, 100) }));
  },
  definition: {
    kind: "chat",
    name: "memory",
    description: "What I remember of you",
    subcommands: [
      { name: "list", description: "What I remember" },
      {
        name: "forget",
        description: "Forget something",
        options: [{ name: "key", description: "What it is filed under", required: true, type: "text", suggests: true }],
      },
    ],
  },
});

async function list(gateway: Gateway, press: Press): Promise<void> {
  const memories = await gateway.server.memories(press.person);
  if (!memories.ok) return tellRefusal(gateway, press, memories);
  const lines = memories.value.memories
    .slice(0, SHOWN_MAX)
    .map(({ key, value }) => `${inlineCode(key, 60)} ${plainText(clip(value, 100))}`);
  await tell(press, lines.length === 0 ? "I remember nothing about you yet." : clip(lines.join("\n"), 1900));
}

async function forget(gateway: Gateway, press: Press): Promise<void> {
  const memories = await gateway.server.memories(press.person);
  if (!memories.ok) return tellRefusal(gateway, press, memories);
  const memory = memories.value.memories.find(({ key }) => clip(key, 100) === press.values.get("key"));
  if (memory === undefined) return tell(press, "I remember nothing under that key.");
  const forgotten = await gateway.server.forget(press.person, memory.memory_id);
  if (forgotten.ok) await tell(press, `Forgotten: ${inlineCode(memory.key, 100)}`);
  else await tellRefusal(gateway, press, forgotten);
}
