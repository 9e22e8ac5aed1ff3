import type { ChannelRoute } from "../../src/protocol/channel.ts";
import type { InboundMessage } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import type { Speaker } from "./speak.ts";

/** Goes on with a message once it is known what its author may; says so where that cannot be known. */
export type WithRole = (message: InboundMessage, goOn: (message: InboundMessage) => Promise<void>) => Promise<void>;

/** How often a turn that was stopped is asked whether it has ended. */
const REWIND_ATTEMPTS_MAX = 20;
const REWIND_PAUSE_MS = 250;

/**
 * A person changed a message. If it still waits it is replaced; if it was the last one its turn is taken back and run
 * again with the new words; an older one stays as it was answered.
 */
export async function handleEdited(
  gateway: Gateway,
  speaker: Speaker,
  message: InboundMessage,
  withRole: WithRole,
): Promise<void> {
  const channel_id = message.place.kind === "channel" ? (message.thread_id ?? message.id) : message.place.channel_id;
  const route = await gateway.routes.refresh(channel_id);
  if (!route.ok || route.value?.last_inbound_id !== message.id) return;
  const shown = route.value;
  await withRole(message, (known) => speakAgain(gateway, speaker, shown, known));
}

async function speakAgain(
  gateway: Gateway,
  speaker: Speaker,
  route: ChannelRoute,
  message: InboundMessage,
): Promise<void> {
  const { ws_id } = route;
  const again = `${message.id}.${message.edited_at ?? ""}`;
  const waiting = speaker.sent(message.id);
  const withdrawn = waiting === undefined ? null : await gateway.server.withdraw(message.author, ws_id, waiting.msg_id);
  if (withdrawn?.ok !== true && !(await takeTurnBack(gateway, message, ws_id))) return;
  await speaker.speak(route, message, { client_send_id: again });
}

/** A person deleted a message: if it still waits, it is taken back. */
export async function handleDeleted(
  gateway: Gateway,
  speaker: Speaker,
  message_id: string,
  author: InboundMessage["author"],
): Promise<void> {
  const waiting = speaker.sent(message_id);
  if (waiting === undefined) return;
  const answer = await gateway.server.withdraw(author, waiting.ws_id, waiting.msg_id);
  gateway.log.info("message.withdrawn", { ok: answer.ok });
}

async function takeTurnBack(
  { server, clock, signal }: Gateway,
  message: InboundMessage,
  ws_id: string,
): Promise<boolean> {
  for (let attempt = 0; attempt < REWIND_ATTEMPTS_MAX && !signal.aborted; attempt += 1) {
    const rewound = await server.rewind(message.author, ws_id, 1);
    if (rewound.ok) return true;
    if (rewound.status !== 409) return false;
    if (attempt === 0) await server.cancel(message.author, ws_id);
    await clock.sleep(REWIND_PAUSE_MS, signal).catch(() => {});
  }
  return false;
}
