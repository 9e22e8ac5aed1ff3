import type { Press } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { encodeCustomId } from "../render/custom_id.ts";
import { inWorkstream, pressedId } from "./common.ts";
import { interaction } from "./interaction.ts";

const CHANGES_LENGTH_MAX = 4000;

/** Accept and Reject under a plan. */
export const planButtons = interaction({
  parse: (press) => pressedId(press, "button", ["plan_accept", "plan_reject"]),
  async run(gateway, press, { verb, subject }) {
    await press.acknowledge();
    await review(gateway, press, subject, verb === "plan_accept" ? "" : "reject");
  },
});

/** "Request changes…" opens a form. */
export const planChangesButton = interaction({
  parse: (press) => pressedId(press, "button", ["plan_changes"]),
  run: (_gateway, press, { subject }) =>
    press.openForm({
      id: encodeCustomId("plan_form", subject) ?? "plan_form",
      title: "Request changes",
      fields: [
        {
          id: "changes",
          label: "What should be different?",
          kind: "text",
          long: true,
          required: true,
          length_max: CHANGES_LENGTH_MAX,
        },
      ],
    }),
});

/** The form sends the wishes to the planner. */
export const planChangesForm = interaction({
  parse: (press) => pressedId(press, "form", ["plan_form"]),
  async run(gateway, press, { subject }) {
    await press.acknowledge();
    await review(gateway, press, subject, press.values.get("changes") ?? "");
  },
});

function review(gateway: Gateway, press: Press, review_id: string, feedback: string): Promise<unknown> {
  return inWorkstream(gateway, press, (ws_id) => gateway.server.plan(press.person, ws_id, feedback, review_id));
}
