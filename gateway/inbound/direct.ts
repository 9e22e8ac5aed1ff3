import type { InboundMessage } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { textView } from "../render/view.ts";
import { sidePlaceId } from "../routes.ts";
import type { ServerAnswer } from "../server_request.ts";
import type { Conversations } from "./conversation.ts";
import type { Speaker } from "./speak.ts";

/** What a notification's message shows, before its id. */
const NOTIFICATION_PREFIX = "notification:";

const CLOSED = "That conversation has been closed meanwhile.";

/**
 * A direct message. As a reply to something of ours it goes to the workstream which that showed, and so does one that
 * follows a notification without being a reply; the answer comes back here. Any other goes to the person's own
 * workstream.
 */
export async function handleDirect(
  gateway: Gateway,
  speaker: Speaker,
  conversations: Conversations,
  message: InboundMessage,
): Promise<void> {
  const own = await speaker.patiently(message, () => gateway.routes.find(message.place.channel_id));
  if (!own.ok) return speaker.refuse(message, own);
  const speakForOneself = (): Promise<void> =>
    own.value === null ? conversations.openDirect(message) : speaker.speak(own.value, message);
  const meant = await speaker.patiently(message, () => workstreamMeant(gateway, message));
  if (!meant.ok) return speaker.refuse(message, meant);
  const about = meant.value;
  if (about === null || about === own.value?.ws_id) return speakForOneself();
  const say = (words: string): Promise<unknown> =>
    gateway.adapter.post(message.place.channel_id, textView(words), { reply_to: message.id });
  const beside = await speaker.patiently(message, () => openBeside(gateway, message, about));
  if (!beside.ok) {
    if (beside.status !== 404) return speaker.refuse(message, beside);
    await say("That conversation does not exist any more. Write to me without replying to begin a new one.");
    return;
  }
  // The quotation would repeat to the agent what it has said itself.
  await speaker.speak(
    beside.value,
    { ...message, reply_to: null },
    {
      client_send_id: directSendId(message),
      async whenClosed() {
        if (message.reply_to !== null) {
          await say(`${CLOSED} Write to me without replying to begin a new one.`);
          return;
        }
        await say(`${CLOSED} I take this as a new one.`);
        await speakForOneself();
      },
    },
  );
}

/** The place in this DM at which another workstream answers. */
function openBeside(
  { server }: Gateway,
  { place: { channel_id } }: InboundMessage,
  ws_id: string,
): ReturnType<Gateway["server"]["createRoute"]> {
  const beside = { channel_id: sidePlaceId(channel_id, ws_id), ws_id, kind: "dm" } as const;
  return server.createRoute({ ...beside, parent_channel_id: channel_id });
}

/** The workstream that a message answers; null for one that answers nothing of ours. */
async function workstreamMeant(
  { server }: Gateway,
  { place, reply_to }: InboundMessage,
): Promise<ServerAnswer<string | null>> {
  if (reply_to?.ours === false) return { ok: true, value: null };
  if (reply_to !== null) {
    const posted = await server.posted(reply_to.message_id);
    if (!posted.ok) return posted.status === 404 ? { ok: true, value: null } : posted;
    return { ok: true, value: posted.value.ws_id };
  }
  const last = await server.lastPosted(place.channel_id);
  if (!last.ok) return last;
  const newest = last.value.posted[0];
  return { ok: true, value: newest?.shows.startsWith(NOTIFICATION_PREFIX) === true ? newest.ws_id : null };
}

/** Names the message so that the turn it starts is known as one that was asked for in this DM. */
export function directSendId(message: Pick<InboundMessage, "id" | "place">): string {
  return `dm.${message.place.channel_id}.${message.id}`;
}

/** Whether a turn that these messages started was asked for in this DM. */
export function wasAskedIn(dm_channel_id: string, client_send_ids: readonly string[]): boolean {
  return client_send_ids.some((id) => id.startsWith(`dm.${dm_channel_id}.`));
}
