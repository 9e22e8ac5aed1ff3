import { isAllowed } from "../allowed.ts";
import type { ChannelPlace, InboundMessage, Press } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { workstreamIdFor } from "../inbound/conversation.ts";
import { uploadAttachments } from "../inbound/attachments.ts";
import { clip, plainText } from "../render/defuse.ts";
import { threadName } from "../render/thread_name.ts";
import { textView } from "../render/view.ts";
import type { ServerAnswer } from "../server_request.ts";
import { pressedId, tell, tellRefusal } from "./common.ts";
import { suggestModels } from "./session.ts";
import { command, interaction, type Interaction } from "./interaction.ts";

const QUESTION_LENGTH_MAX = 4000;
const QUESTION_SHOWN_MAX = 1500;

const askWithoutSuggestions = command(
  {
    name: "ask",
    description: "Ask me something in a thread of its own",
    options: [
      { name: "message", description: "What you want", required: true, type: "text" },
      { name: "model", description: "A model's alias", required: false, type: "text", suggests: true },
      { name: "file", description: "Something to look at", required: false, type: "file" },
    ],
  },
  async (gateway, press) => {
    await press.defer({ private: true });
    await ask(gateway, press, press.values.get("message") ?? "", press.values.get("model") ?? null);
  },
);

export const askCommand: Interaction = { ...askWithoutSuggestions, suggest: suggestModels };

/** "Ask about this" in a message's menu opens a form. */
export const askAboutCommand = interaction({
  parse: (press) => (press.kind === "message_command" && press.id === "Ask about this" ? press.message_id : null),
  run: (_gateway, press, message_id) =>
    press.openForm({
      id: `ask_about:${message_id}`,
      title: "Ask about this message",
      fields: [
        {
          id: "question",
          label: "What do you want to know?",
          kind: "text",
          long: true,
          required: true,
          length_max: QUESTION_LENGTH_MAX,
        },
      ],
    }),
  definition: { kind: "message", name: "Ask about this", description: "" },
});

export const askAboutForm = interaction({
  parse: (press) => pressedId(press, "form", ["ask_about"]),
  async run(gateway, press, { subject }) {
    await press.defer({ private: true });
    const message = await messageAt(gateway, press.place, subject);
    const question = press.values.get("question") ?? "";
    const quoted =
      message === null ? "" : `> ${message.author.name} wrote:\n> ${message.text.replaceAll("\n", "\n> ")}\n\n`;
    await ask(gateway, press, quoted + question, null, question);
  },
});

async function messageAt(
  { adapter }: Gateway,
  place: ChannelPlace,
  message_id: string,
): Promise<InboundMessage | null> {
  const history = await adapter.history(place.channel_id, (BigInt(message_id) - 1n).toString(), 1);
  const found = history.ok ? history.value[0] : undefined;
  return found?.message_id === message_id ? found.message : null;
}

async function ask(
  gateway: Gateway,
  press: Press,
  text: string,
  model: string | null,
  subject: string = text,
): Promise<void> {
  if (!isAllowed(gateway.settings.discord, press.place)) return tell(press, "I am not at work in this channel.");
  const link = await gateway.server.linkOf(press.person.id);
  if (!link.ok) return tellRefusal(gateway, press, link);
  const here = await gateway.routes.find(press.place.channel_id);
  if (!here.ok) return tellRefusal(gateway, press, here);
  if (here.value !== null) {
    const sent = await send(
      gateway,
      press,
      here.value.ws_id,
      text,
      `ask.${press.place.channel_id}.${gateway.clock.now()}`,
    );
    return sent.ok ? tell(press, "Asked.") : tellRefusal(gateway, press, sent);
  }
  if (press.place.kind !== "channel") {
    return tell(press, "Use this in a text channel, in one of my threads, or write to me directly.");
  }
  await askInThread(gateway, press, text, model, subject);
}

/** A message of ours shows the question, and a thread on it is the conversation. */
async function askInThread(
  gateway: Gateway,
  press: Press,
  text: string,
  model: string | null,
  subject: string,
): Promise<void> {
  const { adapter, server, routes } = gateway;
  const { channel_id: parent_channel_id, guild_id } = press.place;
  const shown = textView(`**${plainText(press.person.name)}** asks: ${clip(subject, QUESTION_SHOWN_MAX)}`);
  const posted = await adapter.post(parent_channel_id, shown);
  if (!posted.ok) return tell(press, "I may not write in this channel.");
  const name = threadName(subject);
  const thread = await adapter.openThread(parent_channel_id, posted.value.message_id, name);
  if (!thread.ok) return tell(press, "I may not open a thread in this channel. I need “Create Public Threads”.");
  const { channel_id } = thread.value;
  gateway.thread_names.set(channel_id, name);
  const ws_id = workstreamIdFor(adapter.channel_type, channel_id);
  const created = await server.createWorkstream(press.person, { ws_id, name, ...(model === null ? {} : { model }) });
  if (!created.ok) return tellRefusal(gateway, press, created);
  const route = await server.createRoute({
    channel_id,
    ws_id,
    kind: "thread",
    guild_id,
    parent_channel_id,
    last_inbound_id: null,
  });
  if (!route.ok) return tellRefusal(gateway, press, route);
  routes.remember(route.value);
  const sent = await send(gateway, press, ws_id, text, channel_id);
  if (sent.ok) await tell(press, `I answer in <#${channel_id}>.`);
  else await tellRefusal(gateway, press, sent);
}

async function send(
  gateway: Gateway,
  press: Press,
  ws_id: string,
  text: string,
  client_send_id: string,
): Promise<ServerAnswer<unknown>> {
  const files = await uploadAttachments(gateway, press.person, ws_id, press.file === null ? [] : [press.file]);
  const message = [text, ...files.problems].join("\n\n");
  return gateway.server.send(press.person, ws_id, { message, client_send_id, attachment_ids: files.attachment_ids });
}
