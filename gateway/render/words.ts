import type { ErrorEvent } from "../../src/protocol/event.ts";
import { encodeCustomId } from "./custom_id.ts";
import { clip, plainText } from "./defuse.ts";
import { momentText } from "./figures.ts";
import { splitText } from "./split.ts";
import { textView, type Button, type TextView } from "./view.ts";

const MESSAGE_LENGTH_SHOWN_MAX = 1500;

/** The verb of the button that allows more for a day; its subject is the person, its call the day and the number. */
export const EXTEND_BUDGET = "extend_budget";

/** A failure in plain words, with a button that tries again; where a budget is used up, one that allows more. */
export function failureView({ message, retry_at, budget }: Omit<ErrorEvent, "type">, seq: number): TextView {
  const hope = budget === undefined ? "It is likely to work again" : "The next day begins";
  const when = retry_at === undefined ? "" : `\n-# ${hope} ${momentText(retry_at, "R")}.`;
  const words = splitText(message, MESSAGE_LENGTH_SHOWN_MAX)[0] ?? "Something went wrong, and nobody said what.";
  const extend =
    budget === undefined ? null : encodeCustomId(EXTEND_BUDGET, budget.user_id, `${budget.day}.${budget.extension}`);
  const button: Button =
    extend === null
      ? { kind: "press", id: `retry:${seq}`, label: "Retry", style: "neutral" }
      : { kind: "press", id: extend, label: "Allow as much again today", style: "primary" };
  return { ...textView(`⚠️ ${words}${when}`), buttons: [button] };
}

/** A notification's messages. The title is words alone: it can neither format nor break out of its line. */
export function notificationViews(title: string | null, message: string): TextView[] {
  const head = title === null || title.trim() === "" ? "" : `**${plainText(clip(title.trim(), 200))}**\n`;
  return splitText(`${head}${message.trim()}`).map(textView);
}

/** A small line about something that happened. */
export function asideView(text: string): TextView {
  const lines = (splitText(text, MESSAGE_LENGTH_SHOWN_MAX)[0] ?? "").split("\n").filter((line) => line.trim() !== "");
  const fenced = lines.some((line) => line.trim().startsWith("```"));
  return textView(
    fenced
      ? lines.join("\n")
      : lines
          .slice(0, 30)
          .map((line) => `-# ${line}`)
          .join("\n")
          .slice(0, 1990),
  );
}
