import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from "../protocol/message.ts";

/** People's words between two answers of the model: one message or several that follow each other. */
export interface UserTurn {
  kind: "user";
  messages: UserMessage[];
}

/** An answer of the model with the result of each call, in the order of the calls. Null: the result is missing. */
export interface AssistantTurn {
  kind: "assistant";
  message: AssistantMessage;
  results: (ToolMessage | null)[];
}

export type Turn = UserTurn | AssistantTurn;

/** What stands for a result that never came: every server refuses a call without one. */
export const RESULT_MISSING = "No result was kept for this call. Its outcome is unknown.";

/** What stands for a result without words: some servers refuse empty content. */
export const RESULT_EMPTY = "(no output)";

const OPENING: UserMessage = {
  role: "user",
  content: [{ type: "text", text: "[The conversation goes on from here; what came before was left out.]" }],
};

/**
 * Puts a conversation into the order that every server accepts: it starts with a person, each call is followed at once
 * by its result, words that came in between stand after the results, nothing is empty, and a result whose call is gone
 * is left out. Results are matched to the calls of the answer they follow, so that ids used again later do no harm.
 */
export function arrange(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  let answer: AssistantTurn | null = null;
  for (const message of messages) {
    switch (message.role) {
      case "user":
        if (message.content.length > 0) addUser(turns, message);
        break;
      case "assistant":
        if (isEmpty(message)) break;
        if (turns.length === 0) addUser(turns, OPENING);
        answer = { kind: "assistant", message, results: message.tool_calls.map(() => null) };
        turns.push(answer);
        break;
      case "tool":
        if (answer !== null) placeResult(answer, message);
        break;
    }
  }
  return turns;
}

/** Calls whose id a model used before in this conversation, or twice in one answer, get a new one. */
export function withFreshIds(
  calls: readonly ToolCall[],
  messages: readonly Message[],
  newCallId: () => string,
): ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call) => {
    const id = call.id === "" || seen.has(call.id) || isUsed(call.id, messages) ? newCallId() : call.id;
    seen.add(id);
    return id === call.id ? call : { ...call, id };
  });
}

function addUser(turns: Turn[], message: UserMessage): void {
  const last = turns.at(-1);
  if (last?.kind === "user") last.messages.push(message);
  else turns.push({ kind: "user", messages: [message] });
}

function placeResult(answer: AssistantTurn, message: ToolMessage): void {
  const position = answer.message.tool_calls.findIndex(
    (call, index) => call.id === message.call_id && answer.results[index] === null,
  );
  if (position >= 0) answer.results[position] = message;
}

/** An answer that pauses may hold nothing but blocks for replay; they count. */
function isEmpty(message: AssistantMessage): boolean {
  return message.content.trim() === "" && message.tool_calls.length === 0 && message.replay === undefined;
}

function isUsed(id: string, messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === "assistant" && message.tool_calls.some((call) => call.id === id));
}
