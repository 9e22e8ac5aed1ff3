import { plainText } from "./defuse.ts";
import { momentText } from "./figures.ts";
import { splitText } from "./split.ts";
import type { Block, CardView, PressButton, ViewFile } from "./view.ts";

/** How a plan review ended. */
export interface PlanDecision {
  /** As it went to the server: empty accepts, `reject` rejects, other text asks for changes. */
  feedback: string;
  by: string | null;
  at: string | null;
}

/** Leaves room for the card's other words. */
const PLAN_LENGTH_MAX = 3000;

/** The card of a plan, open or decided. */
export function planCard(review_id: string, content: string, round: number, decision: PlanDecision | null): CardView {
  const shown = splitText(content, PLAN_LENGTH_MAX)[0] ?? "The plan is empty.";
  const files: ViewFile[] = [];
  const blocks: Block[] = [
    { kind: "text", text: round > 1 ? `**The plan, draft ${round}**` : "**The plan**" },
    { kind: "text", text: shown },
  ];
  if (shown.length < content.trimEnd().length) {
    files.push({ name: "plan.md", bytes: new TextEncoder().encode(content) });
    blocks.push({ kind: "text", text: "-# … the rest is in the attachment." }, { kind: "file", name: "plan.md" });
  }
  if (decision !== null) blocks.push({ kind: "text", text: planDecisionText(decision) });
  else blocks.push({ kind: "buttons", buttons: planButtons(review_id) });
  return {
    kind: "card",
    colour: decision === null ? "blue" : decision.feedback === "" ? "green" : "grey",
    blocks,
    files,
  };
}

/** One line about how a review ended. */
export function planDecisionText(decision: PlanDecision): string {
  const who = decision.by === null ? "" : ` by **${plainText(decision.by)}**`;
  const when = decision.at === null ? "" : ` at ${momentText(decision.at)}`;
  if (decision.feedback === "") return `✅ Accepted${who}${when}`;
  if (decision.feedback.trim().toLowerCase() === "reject") return `⛔ Rejected${who}${when}`;
  return `✏️ Changes asked for${who}${when}: “${plainText(decision.feedback.slice(0, 300))}”`;
}

function planButtons(review_id: string): PressButton[] {
  return [
    { kind: "press", id: `plan_accept:${review_id}`, label: "Accept", style: "good" },
    { kind: "press", id: `plan_changes:${review_id}`, label: "Request changes…", style: "neutral" },
    { kind: "press", id: `plan_reject:${review_id}`, label: "Reject", style: "bad" },
  ];
}
