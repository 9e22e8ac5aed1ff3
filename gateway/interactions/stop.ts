import { inWorkstream, pressedId, tell } from "./common.ts";
import { command, interaction } from "./interaction.ts";

/** The Stop button of a live card. The card says what came of it. */
export const stopButton = interaction({
  parse: (press) => pressedId(press, "button", ["stop"]),
  async run(gateway, press) {
    await press.acknowledge();
    const answer = await inWorkstream(gateway, press, (ws_id) => gateway.server.cancel(press.person, ws_id));
    if (answer?.status === "idle") await tell(press, "Nothing is running any more.");
  },
});

export const stopCommand = command(
  { name: "stop", description: "Stop what is running in this conversation" },
  async (gateway, press) => {
    await press.defer({ private: true });
    const answer = await inWorkstream(gateway, press, (ws_id) => gateway.server.cancel(press.person, ws_id));
    if (answer === null) return;
    const dropped =
      answer.dropped === 0
        ? ""
        : ` ${answer.dropped} waiting ${answer.dropped === 1 ? "message was" : "messages were"} taken back.`;
    await tell(press, answer.status === "idle" ? "Nothing was running." : `Stopped.${dropped}`);
  },
);
