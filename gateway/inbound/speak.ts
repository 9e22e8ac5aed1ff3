import type { ChannelRoute } from "../../src/protocol/channel.ts";
import type { InboundMessage } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { createRecent } from "../recent.ts";
import { textView } from "../render/view.ts";
import { platformChannel } from "../routes.ts";
import type { ServerAnswer, ServerRefusal } from "../server_request.ts";
import { uploadAttachments } from "./attachments.ts";
import { messageText } from "./compose.ts";
import { roleView, strangerView, unlinkedView, type Introducer } from "./introduce.ts";

/** A message that the server accepted, so that it can be taken back while it waits. */
export interface Sent {
  ws_id: string;
  msg_id: string;
}

const SENT_MAX = 5000;
/** An outage of the server is waited out this long; what comes after is read from history at the next start. */
const OUTAGE_MS_MAX = 10 * 60_000;
const OUTAGE_PAUSE_MS = 1000;
const OUTAGE_PAUSE_MS_MAX = 15_000;
/** After this long the person is told that the server is away. */
const OUTAGE_TOLD_MS = 5000;

export interface SpeakOptions {
  /** The message's own id where absent. */
  client_send_id?: string;
  /** Done instead where the conversation was closed; it is opened again where absent. */
  whenClosed?: () => Promise<void>;
}

export interface Speaker {
  /** Gives a message to its workstream. Resolves when the server has it, or when the person knows why not. */
  speak(route: ChannelRoute, message: InboundMessage, options?: SpeakOptions): Promise<void>;
  /** Tells the person why something was refused. */
  refuse(message: InboundMessage, refusal: ServerRefusal): Promise<void>;
  /** Asks again while the server is away; tells the person once. */
  patiently<Value>(message: InboundMessage, ask: () => Promise<ServerAnswer<Value>>): Promise<ServerAnswer<Value>>;
  sent(message_id: string): Sent | undefined;
}

export function createSpeaker(gateway: Gateway, introducer: Introducer): Speaker {
  const accepted = createRecent<Sent>(SENT_MAX);
  const patiently = <Value>(
    message: InboundMessage,
    ask: () => Promise<ServerAnswer<Value>>,
  ): Promise<ServerAnswer<Value>> => waitOutOutage(gateway, message, ask);
  const refuse = (message: InboundMessage, refusal: ServerRefusal): Promise<void> =>
    tellRefusal(gateway, introducer, message, refusal);
  return {
    patiently,
    refuse,
    sent: (message_id) => accepted.get(message_id),
    async speak(route, message, { client_send_id = message.id, whenClosed } = {}) {
      const { author } = message;
      if (author.role === "none") return introducer.say(author, message.place, message.id, roleView());
      void gateway.adapter.showTyping(platformChannel(route.channel_id).channel_id);
      const files = await uploadAttachments(gateway, author, route.ws_id, message.attachments);
      const text = [messageText(message), ...files.problems].filter((part) => part !== "").join("\n\n");
      if (text === "" && files.attachment_ids.length === 0) {
        await gateway.adapter.post(
          message.place.channel_id,
          textView("There is nothing in this message that I can read."),
          { reply_to: message.id },
        );
        return;
      }
      const body = { message: text, client_send_id, attachment_ids: files.attachment_ids };
      const send = (): ReturnType<typeof gateway.server.send> => gateway.server.send(author, route.ws_id, body);
      let answer = await patiently(message, send);
      if (!answer.ok && answer.status === 409) {
        if (whenClosed !== undefined) return whenClosed();
        const reopened = await gateway.server.createWorkstream(author, { resume_ws: route.ws_id });
        if (reopened.ok) answer = await patiently(message, send);
      }
      if (!answer.ok) {
        await refuse(message, answer);
        if (isOutage(answer)) return;
      } else if (answer.value.status === "queue_full") {
        await gateway.adapter.post(
          message.place.channel_id,
          textView("Too many messages are waiting already. Send this one again when I have answered some."),
          {
            reply_to: message.id,
          },
        );
      } else {
        accepted.set(message.id, { ws_id: route.ws_id, msg_id: answer.value.msg_id });
      }
      const moved = await gateway.server.moveCursor(route.channel_id, { last_inbound_id: message.id });
      if (moved.ok) gateway.routes.remember(moved.value);
    },
  };
}

async function waitOutOutage<Value>(
  gateway: Gateway,
  message: InboundMessage,
  ask: () => Promise<ServerAnswer<Value>>,
): Promise<ServerAnswer<Value>> {
  const { clock, signal, log } = gateway;
  const started = clock.now();
  let pause = OUTAGE_PAUSE_MS;
  let told = false;
  for (;;) {
    const answer = await ask();
    if (answer.ok || !isOutage(answer) || signal.aborted || clock.now() - started > OUTAGE_MS_MAX) return answer;
    log.warn("server.away", { waiting_ms: clock.now() - started });
    if (!told && clock.now() - started > OUTAGE_TOLD_MS) {
      told = true;
      await tellOutage(gateway, message);
    }
    await clock.sleep(pause, signal).catch(() => {});
    pause = Math.min(pause * 2, OUTAGE_PAUSE_MS_MAX);
  }
}

async function tellOutage({ adapter }: Gateway, { id, place, author }: InboundMessage): Promise<void> {
  const in_conversation = place.kind === "thread" || place.kind === "dm";
  const whose = in_conversation ? "your message" : `the message of ${adapter.mention(author.id)}`;
  const words = `-# My server does not answer. I have ${whose} and go on as soon as it is back.`;
  // Under a mention in a channel a reply counts as its answer, and whoever starts after us would look no further.
  await adapter.post(place.channel_id, textView(words), in_conversation ? { reply_to: id } : {});
}

function isOutage(refusal: ServerRefusal): boolean {
  return refusal.status === 0 || refusal.status === 502 || refusal.status === 503;
}

async function tellRefusal(
  gateway: Gateway,
  introducer: Introducer,
  message: InboundMessage,
  refusal: ServerRefusal,
): Promise<void> {
  const { author, place, id } = message;
  gateway.log.info("message.refused", { status: refusal.status, channel_id: place.channel_id });
  if (gateway.signal.aborted) return;
  if (refusal.status === 401 || refusal.status === 403 || refusal.status === 404) {
    const link = await gateway.server.linkOf(author.id);
    if (!link.ok && link.status === 404) return introducer.say(author, place, id, unlinkedView());
    // What a person may not see is "unknown" to them, so an ended conversation and somebody else's look alike here.
    if (refusal.status === 404) return introducer.say(author, place, id, strangerView());
  }
  await gateway.adapter.post(place.channel_id, textView(`⚠️ ${refusal.error}`), { reply_to: id });
}
