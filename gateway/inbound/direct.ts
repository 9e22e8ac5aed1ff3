import type { InboundMessage } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { textView } from "../render/view.ts";
import { sidePlaceId } from "../routes.ts";
import type { Conversations } from "./conversation.ts";
import type { Speaker } from "./speak.ts";

/**
 * A direct message. As a reply to something of ours it goes to the workstream which that showed, for as long as the
 * workstream exists, and the answer comes back here; any other goes to the person's own workstream.
 */
export async function handleDirect(
  gateway: Gateway,
  speaker: Speaker,
  conversations: Conversations,
  message: InboundMessage,
): Promise<void> {
  const own = await speaker.patiently(message, () => gateway.routes.find(message.place.channel_id));
  if (!own.ok) return speaker.refuse(message, own);
  const about = message.reply_to?.ours === true ? await repliedWorkstream(gateway, message.reply_to.message_id) : null;
  if (about === null || about === own.value?.ws_id) {
    return own.value === null ? conversations.openDirect(message) : speaker.speak(own.value, message);
  }
  await replyToWorkstream(gateway, speaker, message, about);
}

async function replyToWorkstream(
  gateway: Gateway,
  speaker: Speaker,
  message: InboundMessage,
  ws_id: string,
): Promise<void> {
  const { channel_id } = message.place;
  const beside = await speaker.patiently(message, () =>
    gateway.server.createRoute({
      channel_id: sidePlaceId(channel_id, ws_id),
      ws_id,
      kind: "dm",
      parent_channel_id: channel_id,
    }),
  );
  if (!beside.ok) {
    if (beside.status !== 404) return speaker.refuse(message, beside);
    await gateway.adapter.post(
      channel_id,
      textView("That conversation does not exist any more. Write to me without replying to begin a new one."),
      {
        reply_to: message.id,
      },
    );
    return;
  }
  // The quotation would repeat to the agent what it has said itself.
  await speaker.speak(beside.value, { ...message, reply_to: null }, directSendId(message));
}

async function repliedWorkstream({ server }: Gateway, message_id: string): Promise<string | null> {
  const posted = await server.posted(message_id);
  return posted.ok ? posted.value.ws_id : null;
}

/** Names the message so that the turn it starts is known as one that was asked for in this DM. */
export function directSendId(message: Pick<InboundMessage, "id" | "place">): string {
  return `dm.${message.place.channel_id}.${message.id}`;
}

/** Whether a turn that these messages started was asked for in this DM. */
export function wasAskedIn(dm_channel_id: string, client_send_ids: readonly string[]): boolean {
  return client_send_ids.some((id) => id.startsWith(`dm.${dm_channel_id}.`));
}
