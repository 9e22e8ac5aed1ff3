import { clip, plainText } from "./defuse.ts";
import { momentText } from "./figures.ts";
import { splitText } from "./split.ts";
import { textView, type TextView } from "./view.ts";

const MESSAGE_LENGTH_SHOWN_MAX = 1500;

/** A failure in plain words, with a button that tries again. */
export function failureView(message: string, retry_at: string | null, seq: number): TextView {
  const when = retry_at === null ? "" : `\n-# It is likely to work again ${momentText(retry_at, "R")}.`;
  const words = splitText(message, MESSAGE_LENGTH_SHOWN_MAX)[0] ?? "Something went wrong, and nobody said what.";
  return {
    ...textView(`⚠️ ${words}${when}`),
    buttons: [{ kind: "press", id: `retry:${seq}`, label: "Retry", style: "neutral" }],
  };
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
