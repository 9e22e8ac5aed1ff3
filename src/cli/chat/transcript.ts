import type { ApprovalItem } from "../../protocol/approval.ts";
import type { ChildFrame, Event, RiskAssessedEvent, StatusEvent, ToolResultEvent } from "../../protocol/event.ts";
import type { McpRequest } from "../../protocol/mcp_request.ts";
import { visible, visibleLine } from "../../lib/visible.ts";

/** Turns events into the text of a terminal. It knows what is on the screen already, so that nothing is shown twice. */
export interface Transcript {
  /** What to write for an event; empty for one that shows nothing. */
  show(event: ShownEvent): string;
}

/** An event of the workstream, or a step of a sub-agent as its parent's stream tells it. */
export type ShownEvent = Event & Partial<ChildFrame>;

// Enough to see how a tool went; the whole is in the workstream.
const RESULT_LINES_MAX = 8;

export function createTranscript(style: (text: string, kind: TextKind) => string): Transcript {
  /** The running model call's text that stands on the screen. */
  let shown = "";
  const end = (): string => {
    const closing = shown === "" || shown.endsWith("\n") ? "" : "\n";
    shown = "";
    return closing;
  };
  const line = (text: string, kind: TextKind): string => `${end()}${style(text, kind)}\n`;
  const more = (whole: string): string => {
    const rest = whole.startsWith(shown) ? whole.slice(shown.length) : `\n${whole}`;
    shown = whole;
    return visible(rest);
  };
  return {
    show(event) {
      switch (event.type) {
        case "content":
          shown += event.text;
          return visible(event.text);
        case "in_progress_snapshot":
          return more(event.content);
        case "assistant":
          // A sub-agent speaks to its parent; what it found is the result of the call.
          return event.parent_call_id === undefined ? more(event.content) + end() : "";
        case "stream_restart":
          return line(visibleLine(event.message), "dim");
        case "tool_started":
          return line(`… ${ofChild(event, "a sub-agent: ")}${visibleLine(event.name)}`, "dim");
        case "tool_result":
          return line(resultText(event), event.is_error ? "bad" : "dim");
        case "approve_request":
          return line(ofChild(event, "a sub-agent asks:\n") + event.items.map(itemText).join("\n"), "plain");
        case "approval_resolved":
          return line(
            `${event.approved ? "approved" : "denied"}${by(event.decided_by)}`,
            event.approved ? "good" : "bad",
          );
        case "risk_assessed":
          return line(assessmentsText(event), "dim");
        case "plan_review":
          return line(`Plan, draft ${event.round}:\n${visible(event.content)}`, "plain");
        case "mcp_request":
          return line(`${visibleLine(event.server)} ${mcpRequestText(event.request)}`, "plain");
        case "mcp_request_resolved":
          return line(`${event.action}: ${event.decided_by?.name ?? "nobody"}`, "dim");
        case "notification":
          return line(`notified ${visibleLine(JSON.stringify(event.target))}`, "dim");
        case "status":
          return line(statusText(event), "dim");
        case "compaction":
          return line(`compacted ${event.before_tokens} tokens to ${event.after_tokens}`, "dim");
        case "info":
          return line(visible(event.message), "plain");
        case "error":
          return line(visible(event.message), "bad");
        case "turn_ended":
          return event.outcome === "done" ? end() : line(`turn ended: ${event.outcome}`, "dim");
        default:
          return "";
      }
    },
  };
}

function mcpRequestText(request: McpRequest): string {
  switch (request.kind) {
    case "form":
      return `asks you something; what you answer goes to it:\n${visible(request.message)}`;
    case "link":
      return `wants you to open ${visible(request.url)}\n${visible(request.message)}`;
    case "sampling": {
      const messages = request.messages.map(({ role, text }) => `${role}: ${visible(text)}`);
      const system = request.system === "" ? [] : [`system: ${visible(request.system)}`];
      return `wants our model to write for it:\n${[...system, ...messages].join("\n")}`;
    }
    case "sign_in":
      return "needs you to sign in.";
  }
}

/** The mark, if it is a step of a sub-agent. */
function ofChild({ parent_call_id }: Partial<ChildFrame>, mark: string): string {
  return parent_call_id === undefined ? "" : mark;
}

/** What a second model thinks of the calls that wait. */
function assessmentsText({ assessments, error }: RiskAssessedEvent): string {
  if (error !== undefined) return `no second opinion: ${visibleLine(error)}`;
  const lines = Object.values(assessments).map(
    ({ risk, reason }) => `second opinion: ${risk} risk. ${visibleLine(reason)}`,
  );
  return lines.join("\n");
}

export type TextKind = "plain" | "dim" | "good" | "bad";

/** A call that waits for a yes, or says why it cannot run. */
export function itemText(item: ApprovalItem): string {
  const body = item.error ?? item.preview;
  const notes = (item.notes ?? []).map((note) => `\n  ! ${visible(note)}`).join("");
  return `${item.needs_approval ? "?" : "·"} ${visibleLine(item.header)}${body === "" ? "" : `\n${indent(visible(body))}`}${notes}`;
}

function resultText(event: ToolResultEvent): string {
  const lines = visible(event.display ?? event.output)
    .trimEnd()
    .split("\n");
  const rest = lines.length - RESULT_LINES_MAX;
  const kept = rest > 0 ? [...lines.slice(0, RESULT_LINES_MAX), `(${rest} more lines)`] : lines;
  return indent(kept.join("\n"));
}

function statusText(event: StatusEvent): string {
  const cost = event.cost_usd === undefined ? "" : `, $${event.cost_usd.toFixed(4)}`;
  const seconds = (event.duration_ms / 1000).toFixed(1);
  return `${visibleLine(event.model_alias)}, ${seconds} s, ${event.total_tokens} tokens, ${event.pct}% of the context${cost}`;
}

function by(person: { name: string } | null): string {
  return person === null ? "" : ` by ${visibleLine(person.name)}`;
}

function indent(text: string): string {
  return text.replace(/^/gm, "  ");
}
