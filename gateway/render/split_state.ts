/** Longer fences and markers are nothing anybody writes; they are taken as text, so that a part always has room. */
const FENCE_LENGTH_MAX = 10;
const PREFIX_LENGTH_MAX = 6;
const LANGUAGE_LENGTH_MAX = 20;
const FENCE_LINE_LENGTH_MAX = 50;

const FENCE_LINE = /^(\s*(?:>>> )?(?:> ?)*\s*)(`{3,}|~{3,})([^\n]*)$/;

/** A code block that is open at some point of a text. */
export interface Fence {
  /** What stands before the fence on its line: indentation, quote marks. */
  prefix: string;
  marker: string;
  language: string;
}

/** What is open between two lines of a text. */
export interface SplitState {
  fence: Fence | null;
  /** After `>>> ` the rest of the text is a quotation. */
  quoted_to_end: boolean;
  /** The quote mark of a line that was cut in its middle. */
  line_quote: string;
  /** True when the text goes on in the middle of a line. */
  in_line: boolean;
}

export const START: SplitState = { fence: null, quoted_to_end: false, line_quote: "", in_line: false };

/** The state after one whole line, or the rest of one. */
export function afterLine(state: SplitState, line: string): SplitState {
  if (state.in_line) return { ...state, in_line: false, line_quote: "" };
  const match = line.length > FENCE_LINE_LENGTH_MAX ? null : FENCE_LINE.exec(line);
  const quoted_to_end = state.quoted_to_end || (state.fence === null && line.startsWith(">>> "));
  return {
    fence: match === null ? state.fence : fenceAfter(state.fence, match),
    quoted_to_end,
    line_quote: "",
    in_line: false,
  };
}

/** The state after a line that was cut before its end. */
export function insideLine(state: SplitState, line_start: string): SplitState {
  if (state.in_line) return state;
  const line_quote = state.fence === null ? (/^(?:> ?)+/.exec(line_start)?.[0] ?? "").slice(0, PREFIX_LENGTH_MAX) : "";
  const quoted_to_end = state.quoted_to_end || (state.fence === null && line_start.startsWith(">>> "));
  return { fence: state.fence, quoted_to_end, line_quote: quoted_to_end ? "" : line_quote, in_line: true };
}

/** What a part must begin with so that it looks as it would have, uncut. */
export function opening(state: SplitState, rest_start: string): string {
  const quote = state.quoted_to_end ? ">>> " : state.line_quote;
  const fence = state.fence === null ? "" : `${state.fence.prefix}${state.fence.marker}${state.fence.language}\n`;
  // The middle of a line must not be taken for a fence because it now stands at a line's start.
  const guard = state.in_line && /^[\s>]*[`~]{3}/.test(rest_start) ? "\u200b" : "";
  return `${quote}${fence}${guard}`;
}

/** What a part must end with, so that nothing stays open. */
export function closing(state: SplitState): string {
  return state.fence === null ? "" : `\n${state.fence.prefix}${state.fence.marker}`;
}

/** Whether a line ends the open code block. */
export function closesFence(state: SplitState, line: string): boolean {
  return state.fence !== null && !state.in_line && afterLine(state, line).fence === null;
}

function fenceAfter(open: Fence | null, match: RegExpExecArray): Fence | null {
  const [, before = "", marker = "", rest = ""] = match;
  if (open === null) {
    const prefix = before.replace(">>> ", "");
    const inline = marker.startsWith("`") && rest.includes("`");
    if (inline || marker.length > FENCE_LENGTH_MAX || prefix.length > PREFIX_LENGTH_MAX) return null;
    const language = /^\s*([^\s`]*)/.exec(rest)?.[1] ?? "";
    return { prefix, marker, language: language.length > LANGUAGE_LENGTH_MAX ? "" : language };
  }
  const closes = marker[0] === open.marker[0] && marker.length >= open.marker.length && rest.trim() === "";
  return closes ? null : open;
}
