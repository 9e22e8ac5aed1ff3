import type { ApprovalItem, Assessment, Risk, SettlementReason } from "../../src/protocol/approval.ts";
import { encodeCustomId } from "./custom_id.ts";
import { clip, codeBlock, inlineCode, plainText, safeCut, showInvisible } from "./defuse.ts";
import { momentText } from "./figures.ts";
import type { Block, Button, CardView, PressButton, ViewFile } from "./view.ts";

/** What was decided about one call. */
export interface CallDecision {
  approved: boolean;
  reason: SettlementReason;
  by: string | null;
  /** ISO 8601. */
  at: string | null;
  feedback: string | null;
  always: boolean;
}

/** An approval as its card shows it. */
export interface ApprovalCardState {
  cycle_id: string;
  items: readonly ApprovalItem[];
  expires_at: string | null;
  /** By call; a call that is not in it is still to be decided. */
  decisions: ReadonlyMap<string, CallDecision>;
  /** A second model's opinion, by call; what it said nothing about is not in it. */
  assessments: ReadonlyMap<string, Assessment>;
  /** Why there is no second opinion though one was asked for; null where there is nothing to say. */
  no_opinion: string | null;
  /** Who is asked, as a mention or a name; null when that is not known. */
  asked: string | null;
  /** For a sub-agent's calls: what it was asked to do, as its step says; null for the agent's own calls. */
  task: string | null;
}

/** Of one preview: longer ones show their head and tail, and are attached whole. */
const PREVIEW_LENGTH_MAX = 1500;
/** Of the previews of several calls together: the platform allows 4,000 for all text. */
const PREVIEWS_LENGTH_MAX = 1500;
/** With its two buttons a call takes up to five of a card's forty parts. */
const CALLS_WITH_BUTTONS_MAX = 5;
const CALLS_SHOWN_MAX = 8;
const HEADER_LENGTH_MAX = 100;
const NOTES_SHOWN_MAX = 2;
const TASK_LENGTH_MAX = 200;
const ASSESSMENT_LENGTH_MAX = 160;
/** Of the notes of all calls together, and of one. */
const NOTES_LENGTH_MAX = 960;
const NOTE_LENGTH_MAX = 200;

const encoder = new TextEncoder();

/** The calls of a batch about which somebody is asked. */
export function askedItems(items: readonly ApprovalItem[]): ApprovalItem[] {
  return items.filter((item) => item.needs_approval && item.error === null);
}

/** The card of an approval, open or decided. */
export function approvalCard(state: ApprovalCardState): CardView {
  const asked = askedItems(state.items);
  const open = asked.filter((item) => !state.decisions.has(item.call_id));
  const shown = asked.slice(0, CALLS_SHOWN_MAX);
  const files: ViewFile[] = [];
  const room = Math.min(PREVIEW_LENGTH_MAX, Math.floor(PREVIEWS_LENGTH_MAX / Math.max(1, shown.length)));
  const blocks: Block[] = [{ kind: "text", text: titleOf(state, asked.length, open.length) }];
  for (const item of shown) blocks.push(...callBlocks(state, item, asked.length, room, files));
  if (asked.length > shown.length) {
    const rest = asked.slice(CALLS_SHOWN_MAX);
    files.push({
      name: "more-calls.txt",
      bytes: encoder.encode(rest.map((item) => `${item.header}\n${showInvisible(item.preview)}`).join("\n\n")),
    });
    blocks.push({ kind: "text", text: `And ${rest.length} more:` }, { kind: "file", name: "more-calls.txt" });
  }
  if (state.no_opinion !== null && open.length > 0) {
    const why = plainText(clip(state.no_opinion, ASSESSMENT_LENGTH_MAX));
    blocks.push({ kind: "text", text: `-# No second opinion: ${why}` });
  }
  const aside = asideOf(state.items, open.length > 0);
  if (aside !== "") blocks.push({ kind: "text", text: aside });
  if (open.length > 0) blocks.push({ kind: "buttons", buttons: cycleButtons(state.cycle_id, asked.length) });
  return { kind: "card", colour: colourOf(state, asked, open.length), blocks, files };
}

/** One line for places where a whole card is too much, such as a private answer to a late press. */
export function decisionText(decision: CallDecision): string {
  const who = decision.by === null ? "" : ` by **${plainText(decision.by)}**`;
  const when = decision.at === null ? "" : ` at ${momentText(decision.at)}`;
  const feedback =
    decision.feedback === null || decision.feedback === "" ? "" : `: “${plainText(clip(decision.feedback, 100))}”`;
  return `${decisionWord(decision)}${who}${when}${feedback}`;
}

function decisionWord({ approved, reason, always }: CallDecision): string {
  switch (reason) {
    case "person":
      return approved ? (always ? "✅ Approved, from now on without asking," : "✅ Approved") : "⛔ Denied";
    case "expired":
      return "⌛ Nobody answered in time; not run";
    case "cancelled":
      return "⏹ Stopped before it was decided; not run";
    case "policy":
      return approved ? "✅ Allowed by a rule" : "⛔ Refused by a rule";
    case "judge":
      return "✅ Allowed on the second opinion's word";
    case "unreachable":
      return "⛔ Nobody could be asked; not run";
    default:
      return reason satisfies never;
  }
}

const RISK_MARKS = { low: "🟢", medium: "🟡", high: "🔴" } as const satisfies Record<Risk, string>;

function assessmentText({ risk, reason }: Assessment): string {
  return `-# ${RISK_MARKS[risk]} Second opinion: ${risk} risk. ${plainText(clip(reason, ASSESSMENT_LENGTH_MAX))}`;
}

function titleOf(state: ApprovalCardState, asked: number, open: number): string {
  const what = asked === 1 ? "this" : `these ${asked} calls`;
  const helper = state.task === null ? "" : `\n-# For a sub-agent: ${inlineCode(state.task, TASK_LENGTH_MAX)}`;
  if (open === 0) return `**Decided**${helper}`;
  const who = state.asked === null ? "" : `${state.asked}, `;
  const until = state.expires_at === null ? "" : `\n-# Counts as denied ${momentText(state.expires_at, "R")}.`;
  return `${who}**may I do ${what}?**${helper}${until}`;
}

function callBlocks(
  state: ApprovalCardState,
  item: ApprovalItem,
  asked: number,
  room: number,
  files: ViewFile[],
): Block[] {
  const decision = state.decisions.get(item.call_id);
  const number = asked === 1 ? "" : `${askedItems(state.items).indexOf(item) + 1}. `;
  const lines = [`${number}${inlineCode(item.header, HEADER_LENGTH_MAX)}`];
  const cut = cutPreview(item.preview, room);
  if (item.preview.trim() !== "") lines.push(codeBlock(cut.text, languageOf(item)));
  const note_room = Math.min(
    NOTE_LENGTH_MAX,
    Math.floor(NOTES_LENGTH_MAX / NOTES_SHOWN_MAX / Math.min(asked, CALLS_SHOWN_MAX)),
  );
  for (const note of (item.notes ?? []).slice(0, NOTES_SHOWN_MAX)) {
    lines.push(`-# ⚠️ ${plainText(clip(note, note_room))}`);
  }
  const assessment = state.assessments.get(item.call_id);
  if (assessment !== undefined) lines.push(assessmentText(assessment));
  if (decision !== undefined) lines.push(decisionText(decision));
  const blocks: Block[] = [{ kind: "text", text: lines.join("\n") }];
  if (cut.whole) {
    const name = `call-${files.length + 1}.txt`;
    files.push({ name, bytes: encoder.encode(showInvisible(item.preview)) });
    blocks.push({ kind: "file", name });
  }
  if (decision === undefined && asked > 1 && asked <= CALLS_WITH_BUTTONS_MAX) {
    const buttons = [
      press("approve", state.cycle_id, item.call_id, "Approve", "good"),
      press("deny", state.cycle_id, item.call_id, "Deny", "bad"),
    ];
    const known = buttons.filter((button) => button !== null);
    if (known.length > 0) blocks.push({ kind: "buttons", buttons: known });
  }
  return blocks;
}

/** The preview as it is shown: all of it, or its head and tail with what is missing said between them. */
function cutPreview(preview: string, room: number): { text: string; whole: boolean } {
  const visible = showInvisible(preview);
  if (visible.length <= room) return { text: visible, whole: false };
  const head = wholeLines(visible.slice(0, safeCut(visible, Math.floor(room * 0.65))), "head");
  const tail = wholeLines(visible.slice(safeCut(visible, visible.length - Math.floor(room * 0.25))), "tail");
  return {
    text: `${head}\n… ${missingText(visible, head, tail)} more, all of it in the attachment …\n${tail}`,
    whole: true,
  };
}

/** What lies between head and tail: lines where whole ones are left out, else characters. */
function missingText(whole: string, head: string, tail: string): string {
  const between = whole.slice(head.length, whole.length - tail.length);
  const lines = between.split("\n").length - 2;
  return between.startsWith("\n") && between.endsWith("\n") && lines > 1
    ? `${lines} lines`
    : `${between.length} characters`;
}

/** Without the line that the cut went through, which could be taken for another command; a single line stays. */
function wholeLines(text: string, end: "head" | "tail"): string {
  const at = end === "head" ? text.lastIndexOf("\n") : text.indexOf("\n");
  if (at === -1) return text;
  return end === "head" ? text.slice(0, at) : text.slice(at + 1);
}

function languageOf(item: ApprovalItem): string {
  if (item.func_name === "bash") return "sh";
  if (/^(---|\+\+\+|@@|diff )/m.test(item.preview)) return "diff";
  return item.func_name === "math" ? "py" : "";
}

/** What runs unasked or not at all, and while it is open how far "always" would reach. */
function asideOf(items: readonly ApprovalItem[], open: boolean): string {
  const others = items.filter((item) => !item.needs_approval || item.error !== null).slice(0, 5);
  const always = [...new Set(askedItems(items).map((item) => item.approval_label))]
    .slice(0, 3)
    .map((label) => inlineCode(label, 60));
  const lines = others.map((item) => {
    const said = item.error === null ? "runs without asking" : `cannot run: ${plainText(clip(item.error, 120))}`;
    // Where even the name makes no sense, the header says that it cannot run already.
    const header = item.header.replace(/: cannot run$/, "");
    return `-# ${inlineCode(header, 80)} ${said}`;
  });
  if (open && always.length > 0) lines.push(`-# “Always…” can cover ${always.join(", ")}.`);
  return lines.join("\n");
}

function cycleButtons(cycle_id: string, asked: number): Button[] {
  const all = asked > 1 ? " all" : "";
  return [
    press("approve", cycle_id, null, `Approve${all}`, "good"),
    press("deny", cycle_id, null, `Deny${all}`, "bad"),
    press("deny_reason", cycle_id, null, "Deny with reason…", "neutral"),
    press("always", cycle_id, null, "Always…", "neutral"),
  ].filter((button) => button !== null);
}

function press(
  verb: string,
  cycle_id: string,
  call_id: string | null,
  label: string,
  style: PressButton["style"],
): PressButton | null {
  const id = encodeCustomId(verb, cycle_id, call_id);
  return id === null ? null : { kind: "press", id, label, style };
}

function colourOf(state: ApprovalCardState, asked: readonly ApprovalItem[], open: number): CardView["colour"] {
  if (open > 0) return asked.some((item) => item.destructive === true) ? "red" : "orange";
  return [...state.decisions.values()].some((decision) => decision.approved) ? "green" : "grey";
}
