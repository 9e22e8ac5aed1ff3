import { encodeCustomId } from "../render/custom_id.ts";
import { decide } from "./approve.ts";
import { pressedId } from "./common.ts";
import { interaction } from "./interaction.ts";

const REASON_LENGTH_MAX = 1000;

/** "Deny with reason…" opens a form. */
export const denyReasonButton = interaction({
  parse: (press) => pressedId(press, "button", ["deny_reason"]),
  run: (_gateway, press, { subject }) =>
    press.openForm({
      id: encodeCustomId("deny_form", subject) ?? "deny_form",
      title: "Deny with a reason",
      fields: [
        {
          id: "reason",
          label: "What should be done instead?",
          hint: "The agent reads this.",
          kind: "text",
          long: true,
          required: true,
          length_max: REASON_LENGTH_MAX,
        },
      ],
    }),
});

/** The form denies, and its text goes to the model. */
export const denyReasonForm = interaction({
  parse: (press) => pressedId(press, "form", ["deny_form"]),
  async run(gateway, press, { subject }) {
    await press.acknowledge();
    await decide(gateway, press, subject, { approved: false, feedback: press.values.get("reason") ?? "" });
  },
});
