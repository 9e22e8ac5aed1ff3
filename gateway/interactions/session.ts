import type { Press } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { inWorkstream, tell } from "./common.ts";
import { command, interaction, type Interaction } from "./interaction.ts";

/** Gives a slash command to the conversation. What it says comes into the conversation itself, for everyone in it. */
async function give(gateway: Gateway, press: Press, line: string): Promise<void> {
  await press.defer({ private: true });
  const answer = await inWorkstream(gateway, press, (ws_id) => gateway.server.command(press.person, ws_id, line));
  if (answer !== null) await tell(press, "Done; see the conversation.");
}

export const compactCommand = command(
  { name: "compact", description: "Summarise this conversation to make room" },
  (gateway, press) => give(gateway, press, "/compact"),
);

export const modelCommand = command(
  {
    name: "model",
    description: "Show the models, or choose one for this conversation",
    options: [{ name: "model", description: "A model's alias", required: false, type: "text" }],
  },
  (gateway, press) => give(gateway, press, `/model ${press.values.get("model") ?? ""}`.trim()),
);

export const mcpCommand: Interaction = interaction<string>({
  parse: (press) => (press.kind === "command" && /^mcp (list|refresh)$/.test(press.id) ? press.id : null),
  run: (gateway, press, id) =>
    give(gateway, press, id === "mcp list" ? "/mcp" : `/mcp refresh ${press.values.get("server") ?? ""}`.trim()),
  definition: {
    kind: "chat",
    name: "mcp",
    description: "MCP servers and their tools",
    subcommands: [
      { name: "list", description: "Servers, their state and tools" },
      {
        name: "refresh",
        description: "Ask servers for their tools again",
        options: [{ name: "server", description: "One server; all if left out", required: false, type: "text" }],
      },
    ],
  },
});
