import { isAllowed } from "../allowed.ts";
import type { ChannelPerson, InboundMessage } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { createRecent } from "../recent.ts";
import { createSerialQueue } from "../serial.ts";
import { catchUp } from "./catch_up.ts";
import { handleDeleted, handleEdited, type WithRole } from "./changes.ts";
import { createConversations } from "./conversation.ts";
import { handleDirect } from "./direct.ts";
import { createHeardMarks } from "./heard.ts";
import { createIntroducer, roleUnknownView } from "./introduce.ts";
import { createSettler, watchAnswers } from "./settle.ts";
import { createSpeaker } from "./speak.ts";

/** Everything that people write, in the order they wrote it, each message once. */
export interface Inbox {
  receive(message: InboundMessage): void;
  edited(message: InboundMessage): void;
  deleted(message_id: string): void;
  /** Reads what was missed while we were away; what comes meanwhile waits behind it. */
  connected(): void;
  /** From here on something may be missed, until the next connection. */
  interrupted(): void;
  /** Writes down up to where channels were heard. */
  saveMarks(): Promise<void>;
  /** Resolves when all that came is handled. */
  idle(): Promise<void>;
}

const HANDLED_MAX = 10_000;
/** Long enough for a platform that is slow, short enough that a conversation does not stand still. */
const ROLE_WAIT_MS = 20_000;

export function createInbox(surroundings: Gateway): Inbox {
  const { gateway, isAnswered } = watchAnswers(surroundings);
  const introducer = createIntroducer(gateway);
  const speaker = createSpeaker(gateway, introducer);
  const conversations = createConversations(gateway, introducer, speaker);
  const queue = createSerialQueue();
  const handled = createRecent<{ author: ChannelPerson; text: string }>(HANDLED_MAX);
  const heard = createHeardMarks(gateway);
  let missed: Promise<void> = Promise.resolve();

  const withRole: WithRole = async (message, goOn) => {
    const author = await knownAuthor(gateway, message);
    if (author === null) return;
    handled.set(message.id, { author, text: message.text });
    await goOn({ ...message, author });
  };

  const handle = async (message: InboundMessage): Promise<void> => {
    if (gateway.signal.aborted || handled.get(message.id) !== undefined) return;
    handled.set(message.id, { author: message.author, text: message.text });
    if (message.place.kind === "dm") {
      return withRole(message, (known) => handleDirect(gateway, speaker, conversations, known));
    }
    if (message.place.kind !== "thread") {
      return message.mentions_us ? withRole(message, (known) => conversations.openOn(known)) : undefined;
    }
    const found = await speaker.patiently(message, () => gateway.routes.find(message.place.channel_id));
    if (!found.ok) return speaker.refuse(message, found);
    const route = found.value;
    if (route !== null) return withRole(message, (known) => speaker.speak(route, known));
    if (message.mentions_us) await withRole(message, (known) => conversations.adoptThread(known));
  };

  const guarded = (work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => gateway.log.error("message.failed", { error: error as Error }));
  const enqueue = (message: InboundMessage, work: () => Promise<void>): Promise<void> =>
    missed.then(() => queue.run(orderKey(message), () => guarded(work)));
  const settle = createSettler(gateway, heard, isAnswered, introducer);

  return {
    receive(message) {
      if (!isAllowed(gateway.settings.discord, message.place)) return;
      void settle(message, () => enqueue(message, () => handle(message)));
    },
    edited(message) {
      const before = handled.get(message.id);
      if (!isAllowed(gateway.settings.discord, message.place) || before?.text === message.text) return;
      handled.set(message.id, { author: message.author, text: message.text });
      void enqueue(message, () => handleEdited(gateway, speaker, message, withRole));
    },
    deleted(message_id) {
      const before = handled.get(message_id);
      if (before !== undefined) void guarded(() => handleDeleted(gateway, speaker, message_id, before.author));
    },
    connected() {
      const run = (key: string, work: () => Promise<void>): Promise<void> => queue.run(key, () => guarded(work));
      missed = missed.then(() =>
        guarded(() => catchUp(gateway, heard, { handle: (message) => settle(message, () => handle(message)), run })),
      );
    },
    interrupted: () => heard.interrupted(),
    saveMarks: () => guarded(() => heard.save()),
    async idle() {
      await missed;
      await queue.idle();
    },
  };
}

/** The author with a role; null where the platform does not say which, and then the author knows. */
async function knownAuthor(gateway: Gateway, message: InboundMessage): Promise<ChannelPerson | null> {
  const signal = AbortSignal.any([gateway.signal, AbortSignal.timeout(ROLE_WAIT_MS)]);
  const author = await gateway.adapter.withRole(message.author, message.place, signal);
  if (author.role !== "unknown") return author;
  gateway.log.warn("message.role_unknown", { channel_id: message.place.channel_id });
  await gateway.adapter.post(message.place.channel_id, roleUnknownView(), { reply_to: message.id });
  return null;
}

/** What must keep its order: a thread's messages, and the message on which it is opened, which has the same id. */
function orderKey(message: InboundMessage): string {
  return message.place.kind === "thread" || message.place.kind === "dm" ? message.place.channel_id : message.id;
}
