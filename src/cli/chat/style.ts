import { styleText } from "node:util";
import type { TextKind } from "./transcript.ts";

/** Colours for a terminal, none for a pipe. */
export function styleFor(stream: NodeJS.WriteStream): (text: string, kind: TextKind) => string {
  if (!stream.isTTY) return (text) => text;
  return (text, kind) => {
    switch (kind) {
      case "plain":
        return text;
      case "dim":
        return styleText("dim", text, { stream });
      case "good":
        return styleText("green", text, { stream });
      case "bad":
        return styleText("red", text, { stream });
      default:
        return kind satisfies never;
    }
  };
}
