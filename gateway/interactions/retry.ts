import { inWorkstream, pressedId, tell } from "./common.ts";
import { command, interaction } from "./interaction.ts";

/** The Retry button under a failure. */
export const retryButton = interaction({
  parse: (press) => pressedId(press, "button", ["retry"]),
  async run(gateway, press) {
    await press.acknowledge();
    await inWorkstream(gateway, press, (ws_id) => gateway.server.retry(press.person, ws_id));
  },
});

export const retryCommand = command(
  { name: "retry", description: "Run the last turn of this conversation again" },
  async (gateway, press) => {
    await press.defer({ private: true });
    const answer = await inWorkstream(gateway, press, (ws_id) => gateway.server.retry(press.person, ws_id));
    if (answer !== null) await tell(press, "I try again.");
  },
);
