import type { JsonObject } from "../protocol/json.ts";
import type { ToolCall } from "../protocol/message.ts";

/** A piece of a call as chat-completions servers send it; any field may be absent, empty or repeated. */
export interface ToolCallDelta {
  index?: number | undefined;
  id?: string | undefined;
  name?: string | undefined;
  arguments?: string | undefined;
  /** What the server wants back with the call, such as Gemini's signatures of thought. */
  extra?: JsonObject | undefined;
}

interface Slot {
  index: number | undefined;
  id: string;
  name: string;
  arguments: string;
  extra: JsonObject | null;
  scan: JsonScan;
}

/** How far the arguments were read, and whether an object or array that began is still open. */
interface JsonScan {
  position: number;
  depth: number;
  in_string: boolean;
  escaped: boolean;
}

/**
 * Puts calls together from deltas. Servers differ: some leave out the index, label every call 0, repeat id and name in
 * each piece, send empty ids, or use one id twice. What tells two calls apart is, in this order: another index, another
 * id, a name after arguments that were already whole.
 */
export class ToolCallFold {
  readonly #slots: Slot[] = [];

  push(delta: ToolCallDelta): void {
    const slot = this.#slotFor(delta) ?? this.#open(delta.index);
    if (slot.id === "" && delta.id) slot.id = delta.id;
    if (delta.name) slot.name = delta.name;
    if (delta.arguments) slot.arguments += delta.arguments;
    if (delta.extra) slot.extra = delta.extra;
  }

  /** The calls in the order in which they were begun. An id that never came is empty; without a name it is noise. */
  calls(): ToolCall[] {
    return this.#named().map((slot) => ({ id: slot.id, name: slot.name, arguments: slot.arguments }));
  }

  /** What goes back with each of {@link calls}. */
  extras(): (JsonObject | null)[] {
    return this.#named().map((slot) => slot.extra);
  }

  #named(): Slot[] {
    return this.#slots.filter((slot) => slot.name !== "");
  }

  #open(index: number | undefined): Slot {
    const scan = { position: 0, depth: 0, in_string: false, escaped: false };
    const slot: Slot = { index, id: "", name: "", arguments: "", extra: null, scan };
    this.#slots.push(slot);
    return slot;
  }

  /** The call that a piece belongs to; undefined when it begins a new one. */
  #slotFor(delta: ToolCallDelta): Slot | undefined {
    const here = delta.index === undefined ? this.#slots : this.#slots.filter((slot) => slot.index === delta.index);
    const last = here.at(-1);
    if (last === undefined) return undefined;
    if (delta.id) {
      const known = here.findLast((slot) => slot.id === delta.id);
      if (known !== undefined) return startsAgain(known, delta) ? undefined : known;
      const awaitsId = last.id === "" && !startsAgain(last, delta);
      return awaitsId ? last : undefined;
    }
    if (startsAgain(last, delta)) return undefined;
    if (here.length === 1 || !isWhole(last)) return last;
    return here.findLast((slot) => !isWhole(slot)) ?? last;
  }
}

/** A name that comes after whole arguments, or another name, is another call. */
function startsAgain(slot: Slot, delta: ToolCallDelta): boolean {
  if (!delta.name || slot.name === "") return false;
  return delta.name !== slot.name || isWhole(slot);
}

/** Whether the arguments are a closed object or array. Reads only what came since the last look. */
function isWhole(slot: Slot): boolean {
  const { scan, arguments: text } = slot;
  for (; scan.position < text.length; scan.position += 1) {
    const character = text[scan.position];
    if (scan.escaped) scan.escaped = false;
    else if (scan.in_string && character === "\\") scan.escaped = true;
    else if (character === '"') scan.in_string = !scan.in_string;
    else if (scan.in_string) continue;
    else if (character === "{" || character === "[") scan.depth += 1;
    else if (character === "}" || character === "]") scan.depth -= 1;
  }
  return text.trim() !== "" && scan.depth <= 0 && !scan.in_string;
}
