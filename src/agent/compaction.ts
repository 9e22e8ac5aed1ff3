import type { Conversation } from "./conversation.ts";
import { offerFor } from "./request.ts";
import { summarise } from "./summary.ts";
import { countScale, estimateTokens, fixedTokens, messageTokens, tokensOf } from "./tokens.ts";
import type { TurnDependencies, TurnPort } from "./turn_port.ts";

/** A conversation is compacted when its next request would fill this much of the window. */
const COMPACT_AT = 0.8;

/** The newest messages that stay whole, as a share of what the conversation may fill. */
const KEPT_SHARE = 0.4;

/** Tokens of a summary: at most, as a share of what the conversation may fill, and at least. */
const SUMMARY_TOKENS_MAX = 8192;
const SUMMARY_SHARE = 0.25;
const SUMMARY_TOKENS_MIN = 256;

/** A compaction that frees a smaller share than this would be due again at once, and so on without end. */
const GAIN_SHARE_MIN = 0.15;

/**
 * What a compaction came to. `failed`: the models gave no summary, and nothing was changed. `hopeless`: instructions
 * and tools alone fill the window.
 */
export type CompactionOutcome = "compacted" | "not_needed" | "failed" | "hopeless";

/** The conversation against the window. Tokens, as we estimate them. */
interface Space {
  total: number;
  /** What the model takes; when it refused what was believed to fit, what it refused. */
  window: number;
  /** Instructions and tools. */
  fixed: number;
  /** By how much the provider counts more. */
  scale: number;
  /** What messages may fill before a compaction is due. */
  available: number;
}

/**
 * Compacts when the next request needs it, or when `forced`, since a person or the provider asks for it. When the
 * models fail to summarise, the conversation stays as it is and an entry says so. Rejects only when the port's signal
 * is aborted.
 */
export async function compactIfNeeded(
  port: TurnPort,
  dependencies: TurnDependencies,
  forced: boolean,
): Promise<CompactionOutcome> {
  const space = await spaceOf(port, dependencies, forced);
  if (!forced && space.total < space.window * COMPACT_AT) return "not_needed";
  if (space.fixed >= space.window) return "hopeless";
  const from = keptFrom(port.conversation, space.available * KEPT_SHARE);
  if (from === 0) return "not_needed";
  const gain = gainOf(port.conversation, from);
  if (gain <= 0 || (!forced && gain < space.available * GAIN_SHARE_MIN) || space.available <= 0) return "not_needed";
  return compact(port, dependencies, space, from);
}

/** Why no compaction makes the conversation fit, in a sentence for people. */
export async function reasonForOverflow(port: TurnPort, dependencies: TurnDependencies): Promise<string> {
  const { fixed, window, available } = await spaceOf(port, dependencies, false);
  if (available > 0) {
    return "The conversation is longer than the model can take, and summarising it does not help; say /clear, or choose a model with a larger window.";
  }
  return `The instructions and tools alone need about ${fixed} of the model's ${window} tokens; choose a model with a larger window, or set its context_window if that is wrong.`;
}

async function spaceOf(port: TurnPort, dependencies: TurnDependencies, forced: boolean): Promise<Space> {
  const settings = port.models()[0];
  if (settings === undefined) throw new Error("A workstream always has a model.");
  const { context_window } = settings.capabilities;
  const { tools } = offerFor(port, dependencies.catalog, settings);
  const system = await port.systemPrompt();
  const total = estimateTokens(port.conversation, system, tools, context_window);
  if (!forced && total < context_window * COMPACT_AT) {
    return { total, window: context_window, fixed: 0, scale: 1, available: context_window };
  }
  const fixed = fixedTokens(system, tools);
  const window = forced ? Math.min(context_window, total) : context_window;
  const scale = countScale(port.conversation, fixed);
  const available = Math.max(0, (window * COMPACT_AT) / scale - fixed);
  return { total, window, fixed, scale, available };
}

async function compact(
  port: TurnPort,
  dependencies: TurnDependencies,
  { total, window, fixed, scale, available }: Space,
  from: number,
): Promise<CompactionOutcome> {
  const { conversation } = port;
  const wanted = Math.min(SUMMARY_TOKENS_MAX, available * SUMMARY_SHARE);
  const limits = { window: window * COMPACT_AT, summary: Math.floor(Math.max(SUMMARY_TOKENS_MIN, wanted)) };
  const { text, usage } = await summarise(conversation.messages.slice(0, from), limits, port, dependencies);
  if (text === null) {
    if (usage.length > 0) await port.append({ entries: [], changes: usage });
    return "failed";
  }
  const summary = dependencies.redact(text);
  const kept_after_seq = conversation.message_seqs[from - 1] ?? 0;
  const kept = tokensOf(conversation.messages.slice(from)) + carriedTokens(conversation, from);
  const summary_tokens = messageTokens({ role: "user", content: [{ type: "text", text: summary }] });
  const after_tokens = Math.ceil((fixed + kept + summary_tokens) * scale);
  const replay_from = Math.max(1, ...conversation.turn_starts.filter((seq) => seq <= kept_after_seq + 1));
  const { expanded_tools } = conversation;
  await port.append({
    entries: [
      {
        event: { type: "compaction", before_tokens: total, after_tokens, summary, kept_after_seq },
        private: {
          replay_after_seq: replay_from - 1,
          ...(expanded_tools.size === 0 ? {} : { expanded_tools: [...expanded_tools] }),
        },
      },
    ],
    context_tokens: after_tokens,
    changes: usage,
  });
  return "compacted";
}

/** The index of the first message that stays: the newest that fit, and the last step whole whatever it costs. */
function keptFrom(conversation: Conversation, budget_tokens: number): number {
  const { messages } = conversation;
  let from = messages.length;
  let sum = 0;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message === undefined) break;
    sum += messageTokens(message);
    if (sum > budget_tokens && from < messages.length) break;
    if (isBoundary(conversation, index)) from = index;
  }
  return from === messages.length ? 0 : from;
}

/** A step is a message of a person, or what the model said with all results of its calls. */
function isBoundary({ messages, message_seqs }: Conversation, index: number): boolean {
  return messages[index]?.role !== "tool" && message_seqs[index] !== message_seqs[index - 1];
}

/** What a compaction would take away; an earlier summary and the last request come back in another form. */
function gainOf(conversation: Conversation, from: number): number {
  const { messages, summarised } = conversation;
  const first = messages[0];
  const earlier = summarised && first !== undefined ? messageTokens(first) : 0;
  return tokensOf(messages.slice(0, from)) - earlier - carriedTokens(conversation, from);
}

/** The last request of a person stays, even when it lies among what is summarised. */
function carriedTokens({ last_request, message_seqs }: Conversation, from: number): number {
  return last_request !== null && last_request.seq <= (message_seqs[from - 1] ?? 0)
    ? messageTokens(last_request.message)
    : 0;
}
