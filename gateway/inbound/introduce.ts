import type { ChannelPerson, ChannelPlace } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { createRecent } from "../recent.ts";
import { textView, type TextView } from "../render/view.ts";

/** One kind answer an hour to a person in a channel: enough to know, too little to annoy. */
const ANSWER_INTERVAL_MS = 3600_000;
const PEOPLE_MAX = 10_000;

/** The custom id of the button that opens the link form. */
export const LINK_BUTTON_ID = "link:open";

/** Answers people who may not, so that nobody meets silence. */
export interface Introducer {
  /** Says it as a reply to the message, at most once an hour per person and channel. */
  say(person: ChannelPerson, place: ChannelPlace, reply_to: string, view: TextView): Promise<void>;
  /** Whether a message was met with silence since its author had an answer lately. */
  wasSilent(message_id: string): boolean;
}

export function createIntroducer({ adapter, clock, log }: Pick<Gateway, "adapter" | "clock" | "log">): Introducer {
  const said = createRecent<number>(PEOPLE_MAX);
  const silent = createRecent<true>(PEOPLE_MAX);
  return {
    wasSilent: (message_id) => silent.get(message_id) !== undefined,
    async say(person, place, reply_to, view) {
      const key = `${person.id}:${place.channel_id}`;
      const before = said.get(key);
      if (before !== undefined && clock.now() - before < ANSWER_INTERVAL_MS) return silent.set(reply_to, true);
      said.set(key, clock.now());
      const posted = await adapter.post(place.channel_id, view, { reply_to });
      if (posted.ok) return;
      log.warn("introduction.not_posted", {
        channel_id: place.channel_id,
        reason: posted.reason,
        detail: posted.detail,
      });
      const dm = await adapter.openDm(person.id);
      if (dm.ok) await adapter.post(dm.value.channel_id, view);
    },
  };
}

/** For a person without an account here. */
export function unlinkedView(): TextView {
  return {
    ...textView(
      "Hello! I work for people who have an account here, and yours is not linked to Discord yet. " +
        "Ask whoever runs me for an API token, then press the button or use `/link`.",
    ),
    buttons: [{ kind: "press", id: LINK_BUTTON_ID, label: "Link account", style: "primary" }],
  };
}

/** For a person whose roles do not let them talk to us. */
export function roleView(): TextView {
  return textView("Your roles here do not let you talk to me. Ask an admin of this server for one that does.");
}

/** For a person of whom the platform does not say which roles they have. */
export function roleUnknownView(): TextView {
  return textView("Discord does not tell me at the moment what your roles let you do. Send this again in a minute.");
}

/** For a linked person in somebody else's conversation. */
export function strangerView(): TextView {
  return textView(
    "This conversation belongs to somebody else. Its owner can invite you with the button under `/status`; or mention me in the channel for one of your own.",
  );
}
