import type { HistoryMessage } from "../../src/protocol/workstream.ts";
import { threadName } from "../../gateway/render/thread_name.ts";
import { messagesOf } from "./crash_people.ts";
import { linesOf, type CrashRun } from "./crash_run.ts";
import { GIVEN_TITLE } from "./model_server/model_server.ts";
import { isRecord } from "./model_server/wire.ts";
import type { Product } from "./product.ts";

/**
 * What is left of a run: what people see, what the server remembers, what was done. Times, figures and names of the run
 * are made alike.
 */
export interface Ending {
  /** The thread's messages without the card of the running turn, sorted. */
  thread: string[];
  /** Cards of running or finished turns. */
  live_cards: number;
  history: { role: string; text: string; calls: string[] }[];
  /** The thread's name: the one that it was opened with, or the title. */
  name: string;
  /** How often the thread was given another name. */
  renames: number;
  /** Messages to Ben that belong to this run. */
  notices: number;
  /** Lines of each file. */
  effects: Record<string, string[]>;
  /** Buttons that wait for somebody. */
  open_buttons: string[];
  /** Results that say that the outcome is unknown. */
  unknown: number;
  is_over: boolean;
}

const UNKNOWN_OUTCOME = /its outcome is unknown/;
const OPEN_BUTTONS = ["Approve", "Deny", "Accept", "Reject", "Stop"];
const FOLDED_CARD = /^(\s*\|)? *-# (✓ Done|⏹|✗ Failed)/m;
const STOPPED = /^(\s*\|)? *-# ⏹/m;
/** What is said about an outage, and the call to somebody who had to wait for long. */
const ABOUT_WAITING = /My server does not answer|^turnstone: @\w+ (Done|Stopped|It failed)\b.* after /;

export async function endingOf(product: Product, run: CrashRun): Promise<Ending> {
  const { scenario, key, thread } = run;
  const reader = scenario.speaker === "Ada" ? product.token : product.token_of_ben;
  const answer = await product.api("GET", `/v1/api/workstreams/${run.ws_id}/history`, undefined, reader);
  // Before a conversation is there, nothing is remembered; any other refusal says nothing about what is.
  if (answer.status !== 200 && answer.status !== 404) throw new Error(`The history gives ${answer.status}.`);
  const messages = Array.isArray(answer.body["messages"]) ? (answer.body["messages"] as HistoryMessage[]) : [];
  const texts = messagesOf(product, thread).map((message) => product.practice.messageAsText(message));
  const is_live = (text: string): boolean => isOpen(text, "Stop") || FOLDED_CARD.test(text);
  const history = messages.map((message) => historyLine(message, key));
  return {
    thread: texts
      .filter((text) => !is_live(text) && !ABOUT_WAITING.test(text))
      .map((text) => alike(text, key))
      .toSorted(),
    live_cards: texts.filter(is_live).length,
    history,
    name: alike(product.practice.threads("general").find(({ id }) => id === thread)?.name ?? "", key),
    renames: renamesOf(product, thread),
    notices: scenario.notice === undefined ? 0 : noticesOf(product, scenario.notice(key)),
    effects: Object.fromEntries(
      Object.keys(scenario.effects(key)).map((name) => [name.replace(key, "KEY"), linesOf(product, name)]),
    ),
    open_buttons: OPEN_BUTTONS.filter((label) => texts.some((text) => isOpen(text, label))),
    unknown: messages.filter((message) => message.role === "tool" && UNKNOWN_OUTCOME.test(message.content)).length,
    is_over: isOver(
      history.at(-1),
      texts.map((text) => alike(text, key)),
    ),
  };
}

/** The last message is answered where people can read it, or what ran was stopped. */
function isOver(last: Ending["history"][number] | undefined, texts: readonly string[]): boolean {
  if (last?.role === "assistant") return last.calls.length === 0 && texts.some((text) => text.includes(last.text));
  return last?.role === "tool" && texts.some((text) => STOPPED.test(text));
}

function noticesOf(product: Product, notice: string): number {
  return product.practice.dm("Ben").filter((message) => message.content.includes(notice)).length;
}

function renamesOf({ practice }: Product, thread: string): number {
  return practice.requests.filter(
    ({ method, path, status, body }) =>
      method === "PATCH" && path === `/channels/${thread}` && status === 200 && isRecord(body) && "name" in body,
  ).length;
}

function isOpen(text: string, label: string): boolean {
  return text.includes(`[${label}]`) && !text.includes(`[${label}] (off)`);
}

function historyLine({ role, content, tool_calls = [] }: HistoryMessage, key: string): Ending["history"][number] {
  return {
    role,
    text: UNKNOWN_OUTCOME.test(content) ? "UNKNOWN" : alike(content, key),
    calls: tool_calls.map((call) => alike(`${call.name} ${call.arguments}`, key)),
  };
}

/** Without what differs from run to run: names, times, figures, and whether a message was edited on the way. */
function alike(text: string, key: string): string {
  return text
    .replaceAll(key, "KEY")
    .replaceAll(/\n\s*\(edited\)/g, "")
    .replaceAll(/<t:\d+:?\w?>/g, "TIME")
    .replaceAll(/\d+([.,]\d+)?/g, "#")
    .replaceAll("# min # s", "# s");
}

/** What is wrong with an ending, in words. Without a reference only what always holds is asked for. */
export function problemsOf(run: CrashRun, ending: Ending, reference: Ending | null): string[] {
  const problems: string[] = [];
  const { scenario, key } = run;
  if (!ending.is_over) problems.push("The last message was not answered.");
  if (ending.open_buttons.length > 0) problems.push(`These buttons are dead: ${ending.open_buttons.join(", ")}.`);
  if (ending.live_cards > 1 && scenario.open_ended !== true) {
    problems.push(`There are ${ending.live_cards} cards of one turn.`);
  }
  if (scenario.notice !== undefined && ending.notices !== 1) {
    problems.push(`The notice was sent ${ending.notices} times.`);
  }
  problems.push(
    ...effectProblems(scenario.effects(key), key, ending),
    ...peopleProblems(run, ending),
    ...nameProblems(run, ending),
  );
  if (reference === null || scenario.open_ended === true) return problems;
  if (!isSameHistory(ending, reference)) {
    problems.push(`History: ${JSON.stringify(ending.history)}\ninstead of ${JSON.stringify(reference.history)}`);
  }
  if (JSON.stringify(ending.thread) !== JSON.stringify(reference.thread)) {
    problems.push(`Thread:\n${ending.thread.join("\n")}\ninstead of\n${reference.thread.join("\n")}`);
  }
  return problems;
}

/** Each effect once; a call whose outcome is unknown may have had its effect or not. */
function effectProblems(wanted: Record<string, string[]>, key: string, ending: Ending): string[] {
  let missing = 0;
  const problems: string[] = [];
  for (const [name, lines] of Object.entries(wanted)) {
    const found = ending.effects[name.replace(key, "KEY")] ?? [];
    if (found.length === 0 && lines.length === 1) missing += 1;
    else if (found.join() !== lines.join()) {
      problems.push(`${name} holds ${JSON.stringify(found)}, not ${JSON.stringify(lines)}.`);
    }
  }
  if (missing > ending.unknown) {
    problems.push(`${missing} effects are missing, and ${ending.unknown} outcomes are unknown.`);
  }
  return problems;
}

/** Each message of a person is in the conversation once, and an answer comes after it. */
function peopleProblems({ scenario, key }: CrashRun, ending: Ending): string[] {
  const said = [scenario.opening(key), ...(scenario.interjection === undefined ? [] : [scenario.interjection(key)])];
  return said.flatMap((text) => {
    const count = ending.history.filter((line) => line.role === "user" && line.text.includes(alike(text, key))).length;
    return count === 1 ? [] : [`"${text}" is in the conversation ${count} times.`];
  });
}

/** The thread gets its title once; where it is open how a turn ends, it may keep the name that it was opened with. */
function nameProblems({ scenario, key }: CrashRun, { name, renames }: Ending): string[] {
  const allowed =
    scenario.open_ended === true ? [GIVEN_TITLE, alike(threadName(scenario.opening(key)), key)] : [GIVEN_TITLE];
  return [
    ...(allowed.includes(name) ? [] : [`The thread is called "${name}", not ${allowed.join(" or ")}.`]),
    ...(renames > 1 ? [`The thread was renamed ${renames} times.`] : []),
  ];
}

function isSameHistory(ending: Ending, reference: Ending): boolean {
  const shape = (lines: Ending["history"]): string => JSON.stringify(lines);
  if (ending.unknown === 0) return shape(ending.history) === shape(reference.history);
  const known = reference.history.map((line, index) =>
    ending.history[index]?.text === "UNKNOWN" && line.role === "tool" ? { ...line, text: "UNKNOWN" } : line,
  );
  return shape(ending.history) === shape(known);
}
