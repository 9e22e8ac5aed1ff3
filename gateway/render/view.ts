/**
 * What a person is to see, in no platform's words. Text is Markdown as chat platforms read it; an adapter turns a
 * view into
 * its platform's payload and refuses nothing that keeps to these shapes.
 */

/** A file beside a message. */
export interface ViewFile {
  name: string;
  bytes: Uint8Array;
}

/** Something to press. `id` is a custom id as `custom_id.ts` makes them. */
export interface PressButton {
  kind: "press";
  id: string;
  /** At most 80 characters; 34 look good on a phone. */
  label: string;
  style: "neutral" | "primary" | "good" | "bad";
  disabled?: boolean;
}

/** Something that opens an address. */
export interface LinkButton {
  kind: "link";
  url: string;
  label: string;
}

export type Button = PressButton | LinkButton;

/** One choice of a menu. */
export interface Choice {
  value: string;
  label: string;
  description?: string;
}

/** A menu to choose one from; at most 25 choices. */
export interface Menu {
  id: string;
  placeholder: string;
  choices: Choice[];
}

export type Block =
  | { kind: "text"; text: string }
  | { kind: "line" }
  /** At most five. */
  | { kind: "buttons"; buttons: Button[] }
  | { kind: "menu"; menu: Menu }
  /** Shows a file of the view by its name. */
  | { kind: "file"; name: string };

export type Colour = "neutral" | "orange" | "red" | "green" | "grey" | "blue";

/** A plain message. */
export interface TextView {
  kind: "text";
  /** At most 2,000 UTF-16 units; empty only with files. */
  text: string;
  files: ViewFile[];
  /** Under the text, at most five. */
  buttons?: Button[];
  /** The people whom this message may alert; nobody else is. */
  ping?: string[];
}

/** A framed card. All its text together is at most 4,000 characters and it holds at most 40 parts. */
export interface CardView {
  kind: "card";
  colour: Colour;
  blocks: Block[];
  files: ViewFile[];
}

export type View = TextView | CardView;

/** One field of a form. */
export type FormField = {
  id: string;
  /** At most 45 characters. */
  label: string;
  /** At most 100 characters. */
  hint?: string;
  required: boolean;
} & (
  | { kind: "text"; placeholder?: string; value?: string; long: boolean; length_max: number }
  /** At most 25 choices. */
  | { kind: "choice"; choices: (Choice & { chosen: boolean })[]; chosen_min: number; chosen_max: number }
);

/** A form that opens over the conversation. */
export interface Form {
  id: string;
  /** At most 45 characters. */
  title: string;
  /** At most five. */
  fields: FormField[];
}

/** A text message without anything else. */
export function textView(text: string): TextView {
  return { kind: "text", text, files: [] };
}
