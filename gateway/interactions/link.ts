import { LINK_BUTTON_ID } from "../inbound/introduce.ts";
import { plainText } from "../render/defuse.ts";
import type { Form } from "../render/view.ts";
import { pressedId, tell } from "./common.ts";
import { command, interaction } from "./interaction.ts";

const LINK_FORM: Form = {
  id: "link:token",
  title: "Link your account",
  fields: [
    {
      id: "token",
      label: "API token",
      hint: "From whoever runs this bot. Nobody here sees it.",
      placeholder: "ts_…",
      kind: "text",
      long: false,
      required: true,
      length_max: 256,
    },
  ],
};

export const linkCommand = command(
  { name: "link", description: "Link your Discord account to your account here" },
  (_gateway, press) => press.openForm(LINK_FORM),
);

export const linkButton = interaction({
  parse: (press) => (press.kind === "button" && press.id === LINK_BUTTON_ID ? true : null),
  run: (_gateway, press) => press.openForm(LINK_FORM),
});

/** The token goes to the server alone; it is neither logged nor said again (DEVT-19). */
export const linkForm = interaction({
  parse: (press) => pressedId(press, "form", ["link"]),
  async run(gateway, press) {
    await press.defer({ private: true });
    const answer = await gateway.server.link(press.person.id, (press.values.get("token") ?? "").trim());
    if (answer.ok) {
      await tell(
        press,
        `You are linked as **${plainText(answer.value.display_name || answer.value.username)}**. Mention me to begin.`,
      );
    } else await tell(press, answer.error);
  },
});

export const unlinkCommand = command(
  { name: "unlink", description: "Unlink your Discord account" },
  async (gateway, press) => {
    await press.defer({ private: true });
    const answer = await gateway.server.unlink(press.person.id);
    if (answer.ok) await tell(press, "Your Discord account is not linked any more.");
    else await tell(press, answer.status === 404 ? "Your Discord account was not linked." : answer.error);
  },
);
