import { plainText } from "../render/defuse.ts";
import { countText } from "../render/figures.ts";
import { textView, type Button } from "../render/view.ts";
import { inWorkstream, pressedId, tell, tellRefusal, workstreamOfPress } from "./common.ts";
import { command, interaction } from "./interaction.ts";

export const statusCommand = command(
  { name: "status", description: "How this conversation stands" },
  async (gateway, press) => {
    await press.defer({ private: true });
    const ws_id = await workstreamOfPress(gateway, press);
    if (!ws_id.ok) return tellRefusal(gateway, press, ws_id);
    const dashboard = await gateway.server.dashboard(press.person);
    if (!dashboard.ok) return tellRefusal(gateway, press, dashboard);
    const row = dashboard.value.workstreams.find((each) => each.ws_id === ws_id.value);
    if (ws_id.value === null) {
      return tell(
        press,
        `You have ${dashboard.value.workstreams.length} open conversations. Use this in one of their threads to see more.`,
      );
    }
    if (row === undefined) return tell(press, "This conversation is at rest, or belongs to somebody else.");
    const context = Math.round(row.context_ratio * 100);
    const lines = [
      `**${plainText(row.name)}**: ${row.state}${row.activity === "" ? "" : ` (${plainText(row.activity)})`}`,
      `-# Model ${plainText(row.model || row.model_alias)} · ${countText(row.tokens)} tokens · ${context} % of the context`,
      ...(row.queued === 0 ? [] : [`-# Messages waiting: ${row.queued}`]),
      `-# Workstream \`${row.ws_id}\``,
    ];
    const view = textView(lines.join("\n"));
    const button = (id: string, label: string): Button => ({ kind: "press", id, label, style: "neutral" });
    const is_busy = row.state !== "idle" && row.state !== "error";
    const buttons = [
      ...(is_busy ? [button(`tell_when_done:${row.ws_id}`, "Tell me when done")] : []),
      button(`invite:${row.ws_id}`, "Invite someone…"),
    ];
    await press.answer({ ...view, buttons }, { private: true });
  },
);

/** "Tell me when done": the server sends a DM at the end of the turn that runs. */
export const tellWhenDoneButton = interaction({
  parse: (press) => pressedId(press, "button", ["tell_when_done"]),
  async run(gateway, press, { subject }) {
    await press.defer({ private: true });
    const answer = await gateway.server.command(press.person, subject, "/done");
    if (answer.ok) await tell(press, plainText(answer.value.output ?? "Done."));
    else await tellRefusal(gateway, press, answer);
  },
});

/** "Invite someone…" opens a form. */
export const inviteButton = interaction({
  parse: (press) => pressedId(press, "button", ["invite"]),
  run: (_gateway, press, { subject }) =>
    press.openForm({
      id: `invite_form:${subject}`,
      title: "Invite someone to speak here",
      fields: [
        {
          id: "who",
          label: "Their account name or Discord user id",
          kind: "text",
          long: false,
          required: true,
          length_max: 64,
        },
      ],
    }),
});

export const inviteForm = interaction({
  parse: (press) => pressedId(press, "form", ["invite_form"]),
  async run(gateway, press, { subject }) {
    await press.defer({ private: true });
    const who = (press.values.get("who") ?? "")
      .trim()
      .replace(/^<@!?(\d+)>$/, "$1")
      .replace(/^@/, "");
    const person = /^\d{15,20}$/.test(who)
      ? { channel_type: gateway.adapter.channel_type, channel_user_id: who }
      : { username: who };
    const answer = await gateway.server.invite(press.person, subject, person);
    if (answer.ok) await tell(press, `**${plainText(answer.value.name)}** may speak in this conversation now.`);
    else await tellRefusal(gateway, press, answer);
  },
});

export const closeCommand = command(
  { name: "close", description: "End this conversation and archive its thread" },
  async (gateway, press) => {
    await press.defer({ private: true });
    const answer = await inWorkstream(gateway, press, async (ws_id) => {
      const closed = await gateway.server.close(press.person, ws_id, `Closed by ${press.person.name}.`);
      return closed.ok ? { ok: true, value: true } : closed;
    });
    if (answer !== null) await tell(press, "Closed. Writing in the thread opens the conversation again.");
  },
);
