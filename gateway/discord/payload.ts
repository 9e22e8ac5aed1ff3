import { ButtonStyle, ComponentType, MessageFlags } from "discord.js";
import type { APIComponentInContainer, APIButtonComponent, APIMessageTopLevelComponent, RawFile } from "discord.js";
import type { Block, Button, CardView, Colour, Form, FormField, View, ViewFile } from "../render/view.ts";

/** What a request carries: JSON and files. */
export interface Payload {
  body: Record<string, unknown>;
  files: RawFile[];
}

const COLOURS = {
  neutral: null,
  orange: 0xe67e22,
  red: 0xd83c3e,
  green: 0x2d7d46,
  grey: 0x80848e,
  blue: 0x5865f2,
} as const satisfies Record<Colour, number | null>;

const STYLES = {
  neutral: ButtonStyle.Secondary,
  primary: ButtonStyle.Primary,
  good: ButtonStyle.Success,
  bad: ButtonStyle.Danger,
} as const;

/** A view as Discord takes it. Nobody is alerted but the people it names; links get no preview. */
export function payloadOf(view: View, extra_flags = 0): Payload {
  const attachments = view.files.map((file, id) => ({ id: String(id), filename: file.name }));
  const common = { allowed_mentions: mentionsOf(view), attachments };
  if (view.kind === "card") {
    return {
      body: { ...common, flags: MessageFlags.IsComponentsV2 | extra_flags, components: [container(view)] },
      files: rawFiles(view.files),
    };
  }
  const components: APIMessageTopLevelComponent[] =
    (view.buttons ?? []).length === 0 ? [] : [buttonRow(view.buttons ?? [])];
  return {
    body: { ...common, content: view.text, flags: MessageFlags.SuppressEmbeds | extra_flags, components },
    files: rawFiles(view.files),
  };
}

/** A form as the first answer to a press. */
export function formPayload(form: Form): Record<string, unknown> {
  return {
    custom_id: form.id,
    title: form.title,
    components: form.fields.map((field) => ({
      type: ComponentType.Label,
      label: field.label,
      ...(field.hint === undefined ? {} : { description: field.hint }),
      component: fieldPayload(field),
    })),
  };
}

function fieldPayload(field: FormField): Record<string, unknown> {
  const { id: custom_id, required } = field;
  switch (field.kind) {
    case "text":
      return {
        type: ComponentType.TextInput,
        custom_id,
        style: field.long ? 2 : 1,
        required,
        max_length: field.length_max,
        ...(field.placeholder === undefined ? {} : { placeholder: field.placeholder }),
        ...(field.value === undefined ? {} : { value: field.value }),
      };
    case "choice":
      return {
        type: ComponentType.StringSelect,
        custom_id,
        required,
        options: field.choices.map(({ value, label, chosen }) => ({ value, label, default: chosen })),
        min_values: field.chosen_min,
        max_values: Math.max(1, field.chosen_max),
      };
  }
}

function mentionsOf(view: View): Record<string, unknown> {
  const users = view.kind === "text" ? (view.ping ?? []) : [];
  return { parse: [], users, replied_user: false };
}

function container(view: CardView): APIMessageTopLevelComponent {
  const accent_color = COLOURS[view.colour];
  return {
    type: ComponentType.Container,
    ...(accent_color === null ? {} : { accent_color }),
    components: view.blocks.map(component),
  };
}

function component(block: Block): APIComponentInContainer {
  switch (block.kind) {
    case "text":
      return { type: ComponentType.TextDisplay, content: block.text };
    case "line":
      return { type: ComponentType.Separator, divider: true };
    case "file":
      return { type: ComponentType.File, file: { url: `attachment://${block.name}` } };
    case "buttons":
      return buttonRow(block.buttons);
    case "menu":
      return {
        type: ComponentType.ActionRow,
        components: [
          {
            type: ComponentType.StringSelect,
            custom_id: block.menu.id,
            placeholder: block.menu.placeholder,
            options: block.menu.choices,
          },
        ],
      };
    default:
      return block satisfies never;
  }
}

function buttonRow(buttons: readonly Button[]): { type: ComponentType.ActionRow; components: APIButtonComponent[] } {
  return { type: ComponentType.ActionRow, components: buttons.map(button) };
}

function button(shown: Button): APIButtonComponent {
  if (shown.kind === "link") {
    return { type: ComponentType.Button, style: ButtonStyle.Link, url: shown.url, label: shown.label };
  }
  return {
    type: ComponentType.Button,
    style: STYLES[shown.style],
    custom_id: shown.id,
    label: shown.label,
    ...(shown.disabled === true ? { disabled: true } : {}),
  };
}

function rawFiles(files: readonly ViewFile[]): RawFile[] {
  return files.map((file) => ({ name: file.name, data: Buffer.from(file.bytes) }));
}
