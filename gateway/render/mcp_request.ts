import type { SettlementReason } from "../../src/protocol/approval.ts";
import {
  type McpAction,
  type McpField,
  type McpRequest,
  type McpSamplingMessage,
  MCP_PAGE_FIELDS,
  MCP_TEXT_LENGTH_MAX,
  type OpenMcpRequest,
} from "../../src/protocol/mcp_request.ts";
import type { JsonValue } from "../../src/protocol/json.ts";
import { encodeCustomId } from "./custom_id.ts";
import { clip, codeBlock, inlineCode, isBlank, plainText, safeSlice } from "./defuse.ts";
import { momentText } from "./figures.ts";
import type { Block, CardView, Form, FormField, PressButton, ViewFile } from "./view.ts";

/** How it ended; `reason` null: the call at the server was over first. */
export interface McpDecision {
  action: McpAction;
  reason: SettlementReason | null;
  by: string | null;
  /** ISO 8601. */
  at: string | null;
}

const MESSAGE_LENGTH_MAX = 1500;
const FIELDS_SHOWN_MAX = 12;
const TITLE_LENGTH_MAX = 80;
const SAMPLING_LENGTH_MAX = 1800;
const SERVER_LENGTH_MAX = 60;
const NUMBER_LENGTH_MAX = 40;
/** A text that may be longer gets more than a line to be written in. */
const LINE_LENGTH_MAX = 200;
/** Limits of a form's words on the platform. */
const LABEL_LENGTH_MAX = 45;
const HINT_LENGTH_MAX = 100;
const CHOICE_LENGTH_MAX = 100;

/** The card of what an MCP server wants of people, open or answered. */
export function mcpRequestCard(
  request_id: string,
  server: string,
  request: McpRequest,
  decision: McpDecision | null,
): CardView {
  const files: ViewFile[] = [];
  const name = inlineCode(server, SERVER_LENGTH_MAX);
  const blocks: Block[] = [{ kind: "text", text: titleOf(name, request) }, ...wishOf(request, files)];
  if (decision === null) blocks.push({ kind: "buttons", buttons: buttonsOf(request_id, request) });
  else blocks.push({ kind: "text", text: mcpDecisionText(request, decision) });
  const colour = decision === null ? "blue" : decision.action === "accept" ? "green" : "grey";
  return { kind: "card", colour, blocks, files };
}

function titleOf(server: string, { kind }: McpRequest): string {
  switch (kind) {
    case "form":
      return `**The MCP server ${server} asks you something**`;
    case "link":
      return `**The MCP server ${server} wants you to open a page**`;
    case "sampling":
      return `**The MCP server ${server} wants our model to write something for it**`;
    case "sign_in":
      return `**The MCP server ${server} needs you to sign in**`;
  }
}

function wishOf(request: McpRequest, files: ViewFile[]): Block[] {
  switch (request.kind) {
    case "form":
      return [
        { kind: "text", text: messageText(request.message) },
        { kind: "text", text: fieldList(request.fields) },
        { kind: "text", text: "-# What you fill in goes to that server. Give it no passwords." },
      ];
    case "link":
      return [
        { kind: "text", text: messageText(request.message) },
        { kind: "text", text: codeBlock(clip(request.url, MESSAGE_LENGTH_MAX)) },
        { kind: "text", text: `-# It leads to ${inlineCode(new URL(request.url).host, SERVER_LENGTH_MAX)}.` },
      ];
    case "sampling":
      return samplingBlocks(request.system, request.messages, request.output_tokens_max, files);
    case "sign_in":
      return [
        {
          kind: "text",
          text: "Its tools work with the account of whoever owns this conversation. The call waits until you have signed in.",
        },
      ];
  }
}

function messageText(message: string): string {
  const text = clip(plainText(message), MESSAGE_LENGTH_MAX);
  return isBlank(text) ? "It does not say what for." : text;
}

/** The platform takes no label without anything to see. */
function labelOf(text: string, length_max: number): string {
  return isBlank(text) ? "(without a name)" : clip(text, length_max);
}

function fieldList(fields: readonly McpField[]): string {
  if (fields.length === 0) return "It asks for a yes or a no, and for nothing to fill in.";
  const lines = fields
    .slice(0, FIELDS_SHOWN_MAX)
    .map(
      ({ title, required }) => `- ${labelOf(plainText(title), TITLE_LENGTH_MAX)}${required ? "" : " (if you like)"}`,
    );
  const rest = fields.length - lines.length;
  return [...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n");
}

function samplingBlocks(
  system: string,
  messages: readonly McpSamplingMessage[],
  tokens: number,
  files: ViewFile[],
): Block[] {
  const whole = [
    ...(system === "" ? [] : [`system:\n${system}`]),
    ...messages.map(({ role, text }) => `${role}:\n${text}`),
  ].join("\n\n");
  const shown = safeSlice(whole, SAMPLING_LENGTH_MAX);
  const blocks: Block[] = [{ kind: "text", text: codeBlock(shown) }];
  if (shown.length < whole.length) {
    files.push({ name: "prompt.txt", bytes: new TextEncoder().encode(whole) });
    blocks.push({ kind: "text", text: "-# … the rest is in the attachment." }, { kind: "file", name: "prompt.txt" });
  }
  blocks.push({
    kind: "text",
    text: `-# The answer, up to ${tokens} tokens, goes to that server. It counts as yours.`,
  });
  return blocks;
}

function buttonsOf(request_id: string, request: McpRequest): PressButton[] {
  const button = (verb: string, label: string, style: PressButton["style"]): PressButton => ({
    kind: "press",
    id: encodeCustomId(verb, request_id) ?? verb,
    label,
    style,
  });
  const decline = button("mcp_decline", "Decline", "bad");
  switch (request.kind) {
    case "form":
      return request.fields.length === 0
        ? [button("mcp_accept", "Accept", "good"), decline]
        : [button("mcp_fill", "Answer…", "good"), decline];
    case "link":
      return [button("mcp_link", "Open…", "good"), decline];
    case "sampling":
      return [button("mcp_accept", "Approve", "good"), decline];
    case "sign_in":
      return [button("mcp_connect", "Connect…", "good"), decline];
  }
}

/** One line about how it ended. */
export function mcpDecisionText(request: McpRequest, { action, reason, by, at }: McpDecision): string {
  const who = by === null ? "" : ` by **${plainText(by)}**`;
  const when = at === null ? "" : ` at ${momentText(at)}`;
  switch (reason) {
    case null:
    case "cancelled":
      return "⏹ The call was over before anybody answered";
    case "expired":
      return "⌛ Nobody answered in time";
    case "unreachable":
      return "⛔ Nobody could be asked";
    case "person":
    case "policy":
    case "judge":
      return action === "accept" ? `✅ ${acceptedWord(request)}${who}${when}` : `⛔ Declined${who}${when}`;
  }
}

function acceptedWord({ kind }: McpRequest): string {
  switch (kind) {
    case "form":
      return "Answered";
    case "link":
      return "Opened";
    case "sampling":
      return "Approved";
    case "sign_in":
      return "Signed in";
  }
}

/** How many forms one request takes. */
export function pageCount(fields: readonly McpField[]): number {
  return Math.ceil(fields.length / MCP_PAGE_FIELDS);
}

/** A part of a form, counted from 0, and the message that is its card. */
export interface FormPlace {
  page: number;
  card: string;
}

/** The custom id of a part of a form, and of the button that opens it. */
export function formId(verb: "mcp_fill" | "mcp_form", request_id: string, { page, card }: FormPlace): string {
  return encodeCustomId(verb, request_id, `${page}.${card}`) ?? verb;
}

/** The first part that asks for one of these fields. */
export function pageOfField(fields: readonly McpField[], names: readonly string[]): number {
  const index = fields.findIndex(({ name }) => names.includes(name));
  return Math.floor(Math.max(0, index) / MCP_PAGE_FIELDS);
}

/** One form of a request, with what was given so far. */
export function mcpForm(
  { request_id, server, given }: OpenMcpRequest,
  fields: readonly McpField[],
  place: FormPlace,
): Form {
  const { page } = place;
  const pages = pageCount(fields);
  const part = pages > 1 ? ` (${page + 1} of ${pages})` : "";
  return {
    id: formId("mcp_form", request_id, place),
    title: `${clip(`For ${server}`, LABEL_LENGTH_MAX - part.length)}${part}`,
    fields: fieldsOf(fields, page).map(({ field, id }) =>
      formField(field, id, Object.hasOwn(given, field.name) ? given[field.name] : undefined),
    ),
  };
}

function fieldsOf(fields: readonly McpField[], page: number): { field: McpField; id: string }[] {
  const first = page * MCP_PAGE_FIELDS;
  return fields.slice(first, first + MCP_PAGE_FIELDS).map((field, index) => ({ field, id: `field_${first + index}` }));
}

/** The values of a form, by the names of its fields. What was left empty is null, which takes back what was given. */
export function mcpFormValues(
  fields: readonly McpField[],
  page: number,
  texts: ReadonlyMap<string, string>,
  choices: ReadonlyMap<string, readonly string[]>,
): Record<string, string | string[] | null> {
  return Object.fromEntries(
    fieldsOf(fields, page).map(({ field, id }) => {
      const chosen = choices.get(id) ?? [];
      if (field.type === "choice") return [field.name, chosenValues(field, chosen)];
      return [field.name, field.type === "boolean" ? (chosen[0] ?? null) : texts.get(id) || null];
    }),
  );
}

function chosenValues(
  field: Extract<McpField, { type: "choice" }>,
  chosen: readonly string[],
): string | string[] | null {
  const values = chosen.map((index) => field.choices[Number(index)]?.value ?? "");
  if (values.length === 0) return null;
  return field.multiple ? values : (values[0] ?? null);
}

function formField(field: McpField, id: string, given: JsonValue | undefined): FormField {
  const label = labelOf(field.title, LABEL_LENGTH_MAX);
  const hint = hintOf(field);
  const common = {
    id,
    label,
    required: field.required,
    ...(isBlank(hint) ? {} : { hint: clip(hint, HINT_LENGTH_MAX) }),
  };
  switch (field.type) {
    case "text":
    case "number": {
      const wanted_max = field.type === "text" ? field.length_max : NUMBER_LENGTH_MAX;
      const length_max = Math.min(Math.max(1, wanted_max ?? MCP_TEXT_LENGTH_MAX), MCP_TEXT_LENGTH_MAX);
      const value = given ?? field.default;
      return {
        kind: "text",
        ...common,
        // Most that is asked for without an end is a name or a word.
        long: (wanted_max ?? 0) > LINE_LENGTH_MAX,
        length_max,
        ...(value === null || value === undefined ? {} : { value: valueText(value).slice(0, length_max) }),
      };
    }
    case "boolean": {
      const value = given ?? field.default;
      const choices = [true, false].map((one) => ({
        value: String(one),
        label: one ? "Yes" : "No",
        chosen: one === value,
      }));
      return { kind: "choice", ...common, choices, chosen_min: field.required ? 1 : 0, chosen_max: 1 };
    }
    case "choice": {
      const chosen = given === undefined ? field.default : Array.isArray(given) ? given : [given];
      const choices = field.choices.map(({ value, title }, index) => ({
        value: String(index),
        label: labelOf(title, CHOICE_LENGTH_MAX),
        chosen: chosen.includes(value),
      }));
      const chosen_min = field.required ? Math.max(1, field.chosen_min) : field.chosen_min;
      return { kind: "choice", ...common, choices, chosen_min, chosen_max: field.chosen_max };
    }
  }
}

function valueText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function hintOf(field: McpField): string {
  if (field.description !== "") return field.description;
  if (field.type === "number") return field.integer ? "A whole number." : "A number.";
  if (field.type !== "text") return "";
  switch (field.format) {
    case "email":
      return "An e-mail address.";
    case "uri":
      return "An address, such as https://example.org/page.";
    case "date":
      return "A date, such as 2026-03-31.";
    case "date-time":
      return "A date with its time and zone, such as 2026-03-31T18:30:00Z.";
    case null:
      return "";
  }
}
