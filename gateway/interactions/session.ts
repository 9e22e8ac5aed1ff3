import type { Press, SuggestRequest } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { clip, plainText } from "../render/defuse.ts";
import { inWorkstream, tell, tellRefusal } from "./common.ts";
import { command, interaction, type Interaction } from "./interaction.ts";
import { connect } from "./mcp_request.ts";

/** Gives a slash command to the conversation. What it says comes into the conversation itself, for everyone in it. */
async function give(gateway: Gateway, press: Press, line: string): Promise<void> {
  await press.defer({ private: true });
  const answer = await inWorkstream(gateway, press, (ws_id) => gateway.server.command(press.person, ws_id, line));
  if (answer !== null) await tell(press, "Done; see the conversation.");
}

/** Models whose alias or name holds what is typed. */
export async function suggestModels(
  gateway: Gateway,
  { person, typed }: SuggestRequest,
): Promise<{ name: string; value: string }[]> {
  const answer = await gateway.server.models(person);
  if (!answer.ok) return [];
  return answer.value.models
    .map(({ alias, model }) => ({ name: clip(alias === model ? alias : `${alias}: ${model}`, 100), value: alias }))
    .filter(({ name, value }) => value.length <= 100 && name.toLowerCase().includes(typed.toLowerCase()));
}

export const compactCommand = command(
  { name: "compact", description: "Summarise this conversation to make room" },
  (gateway, press) => give(gateway, press, "/compact"),
);

export const modelCommand: Interaction = {
  ...command(
    {
      name: "model",
      description: "Show the models, or choose one for this conversation",
      options: [{ name: "model", description: "A model's alias", required: false, type: "text", suggests: true }],
    },
    (gateway, press) => give(gateway, press, `/model ${press.values.get("model") ?? ""}`.trim()),
  ),
  suggest: suggestModels,
};

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
      {
        name: "connect",
        description: "Sign in to a server that knows people by their own accounts",
        options: [{ name: "server", description: "Its name", required: true, type: "text" }],
      },
      {
        name: "disconnect",
        description: "Forget your sign-in to a server",
        options: [{ name: "server", description: "Its name", required: true, type: "text" }],
      },
    ],
  },
});

/** The other half of `/mcp`: what concerns a person and not a conversation, and works anywhere. */
export const mcpAccountCommand: Interaction = interaction<"connect" | "disconnect">({
  parse: ({ kind, id }) => {
    if (kind !== "command") return null;
    return id === "mcp connect" ? "connect" : id === "mcp disconnect" ? "disconnect" : null;
  },
  async run(gateway, press, action) {
    await press.defer({ private: true });
    const server = press.values.get("server")?.trim() ?? "";
    if (action === "connect") return connect(gateway, press, server);
    const forgotten = await gateway.server.endSignIn(press.person, server);
    if (!forgotten.ok) return tellRefusal(gateway, press, forgotten);
    await tell(
      press,
      `Your sign-in to ${plainText(server)} is forgotten here. What you allowed there you take back there.`,
    );
  },
});
