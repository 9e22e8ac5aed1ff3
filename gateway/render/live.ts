import type { TurnOutcome, WorkstreamState } from "../../src/protocol/workstream.ts";
import { clip, inlineCode, plainText } from "./defuse.ts";
import { durationText, momentText } from "./figures.ts";
import type { Block, CardView } from "./view.ts";

/** One tool call of a running turn. */
export interface LiveTool {
  call_id: string;
  header: string;
  status: "waiting" | "running" | "done" | "failed" | "denied";
  /** The newest line of its output. */
  last_line: string;
  /** True for a sub-agent's call. */
  nested: boolean;
}

/** A running turn as its card shows it. */
export interface LiveCardState {
  turn_seq: number;
  state: WorkstreamState;
  /** ISO 8601. */
  started_at: string | null;
  tools: readonly LiveTool[];
  queued: readonly { msg_id: string; content: string }[];
}

const TOOLS_SHOWN_MAX = 6;
const QUEUED_SHOWN_MAX = 3;

const STATUS_MARK = { waiting: "⏸", running: "⏳", done: "✓", failed: "✗", denied: "⛔" } as const satisfies Record<
  LiveTool["status"],
  string
>;

/** The card while the turn runs. */
export function liveCard(live: LiveCardState): CardView {
  const since = live.started_at === null ? "" : ` · began ${momentText(live.started_at, "R")}`;
  const lines = [`**${stateWord(live.state)}**${since}`];
  const earlier = live.tools.length - TOOLS_SHOWN_MAX;
  if (earlier > 0) lines.push(`-# ${earlier} earlier ${earlier === 1 ? "step" : "steps"}`);
  for (const tool of live.tools.slice(-TOOLS_SHOWN_MAX)) {
    lines.push(`${tool.nested ? "↳ " : ""}${STATUS_MARK[tool.status]} ${inlineCode(tool.header, 120)}`);
    if (tool.status === "running" && tool.last_line.trim() !== "") {
      lines.push(`-# ${inlineCode(tool.last_line.trim(), 120)}`);
    }
  }
  for (const message of live.queued.slice(0, QUEUED_SHOWN_MAX)) {
    lines.push(`-# Queued: ${plainText(clip(message.content, 100))}`);
  }
  if (live.queued.length > QUEUED_SHOWN_MAX) lines.push(`-# and ${live.queued.length - QUEUED_SHOWN_MAX} more queued`);
  const blocks: Block[] = [
    { kind: "text", text: lines.join("\n") },
    { kind: "buttons", buttons: [{ kind: "press", id: `stop:${live.turn_seq}`, label: "Stop", style: "bad" }] },
  ];
  return { kind: "card", colour: live.state === "attention" ? "orange" : "blue", blocks, files: [] };
}

/** What is left of the card when the turn is over. */
export function foldedCard(
  live: LiveCardState,
  outcome: TurnOutcome,
  duration_ms: number | null,
  footer: string | null,
): CardView {
  const steps = live.tools.length;
  const count = (status: LiveTool["status"]): number => live.tools.filter((tool) => tool.status === status).length;
  const figures = [
    outcomeWord(outcome),
    ...(steps === 0 ? [] : [stepsText(steps, count("failed"), count("denied"))]),
    ...(duration_ms === null ? [] : [durationText(duration_ms)]),
  ];
  const text = footer === null ? `-# ${figures.join(" · ")}` : `-# ${figures.join(" · ")}\n${footer}`;
  return { kind: "card", colour: outcome === "done" ? "neutral" : "grey", blocks: [{ kind: "text", text }], files: [] };
}

function stepsText(steps: number, failed: number, denied: number): string {
  const parts = [steps === 1 ? "1 step" : `${steps} steps`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (denied > 0) parts.push(`${denied} denied`);
  return parts.join(", ");
}

function stateWord(state: WorkstreamState): string {
  switch (state) {
    case "idle":
    case "thinking":
      return "Thinking";
    case "running":
      return "Working";
    case "attention":
      return "Waiting for you";
    case "error":
      return "In trouble";
    default:
      return state satisfies never;
  }
}

function outcomeWord(outcome: TurnOutcome): string {
  switch (outcome) {
    case "done":
      return "✓ Done";
    case "cancelled":
      return "⏹ Stopped";
    case "interrupted":
      return "⏹ Interrupted";
    case "limit":
      return "⏹ Stopped at a limit";
    case "failed":
      return "✗ Failed";
    default:
      return outcome satisfies never;
  }
}
