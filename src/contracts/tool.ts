import type { AttachmentReference, Effect } from "../protocol/event.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { McpAction, McpRequest, McpSamplingMessage } from "../protocol/mcp_request.ts";
import type { UsageByModel } from "../protocol/message.ts";
import type { NotificationDelivery, NotificationTarget } from "../protocol/notification.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Spawner } from "../lib/spawn.ts";
import type { Workspace } from "../lib/workspace.ts";
import type { FileRecord } from "./file_record.ts";
import type { MemoryStore, SearchStore } from "./store.ts";

export type { FileRecord } from "./file_record.ts";

/**
 * What is decided about a call before anyone is asked. `plan` holds all that `execute` needs and is kept with the
 * approval, so that what was shown is what runs, also after a restart. Preparing has no side effect.
 */
export type Preparation =
  | {
      ok: true;
      /** JSON: everything that `execute` works from, with hashes of what it expects to find. */
      plan: JsonValue;
      /** One line, such as `bash: git status`. */
      header: string;
      /** All that will run or be written. Empty when the header says it all. */
      preview: string;
      /** Whether a person must say yes when no rule, grant or setting decides. */
      needs_approval: boolean;
      /** What "always" covers; the tool's name where absent. */
      approval_label?: string;
      /** `none`: may be started again after a crash. */
      effect: "none" | "side_effect";
      /** Things that two calls must not touch at once, such as a real path: such calls run one after another. */
      resources?: string[];
      /** What a person should know before saying yes. */
      notes?: string[];
      destructive?: boolean;
      /** The text that rules and grants are matched against; the primary argument where absent. */
      subject?: string;
    }
  | { ok: false; error: string };

/** What a call gave. A tool that fails gives `is_error`; it throws only for broken assumptions. */
export interface ToolOutput {
  /** For the model. Cut to the limit by the pipeline. */
  output: string;
  is_error: boolean;
  effect: Effect;
  /** For people, where shorter. */
  display?: string;
  images?: AttachmentReference[];
  /** Files that this call read or wrote, which later edits are checked against. */
  files?: FileRecord[];
  /** Deferred tools that became visible. */
  expanded_tools?: string[];
  /** What sub-agents of this call used. */
  usage?: UsageByModel;
  notification?: {
    notification_id: string;
    target: NotificationTarget;
    title?: string;
    message: string;
    deliveries: NotificationDelivery[];
  };
}

/** All that preparing may look at. */
export interface PrepareContext {
  ws_id: string;
  user_id: string | null;
  workspace: Workspace;
  /** The record of a file that was read in this session, by real path. */
  fileRead(real_path: string): FileRecord | undefined;
  model: { supports_vision: boolean };
  /** For a sub-agent's own calls. */
  sub_agent: boolean;
  clock: Clock;
  /** What commands run in, for the card: null when there is no sandbox. */
  sandbox: { name: string } | null;
}

/** A question to the model beside the conversation. */
export interface Question {
  system: string;
  /** What was said before the prompt, where that is not nothing. */
  earlier?: readonly McpSamplingMessage[];
  prompt: string;
  /** Tokens. A model that can give less is asked for less. */
  max_output_tokens: number;
  /** An answer that the token limit cut is worth having too. */
  partial?: boolean;
}

/** `model` is the alias of the one that answered. */
export type QuestionAnswer = { ok: true; text: string; model: string; whole: boolean } | { ok: false; error: string };

/** What people answered to an MCP server. `content` is of an accepted form alone. */
export interface McpRequestReply {
  action: McpAction;
  content: JsonObject;
}

/** All that a running tool may touch. */
export interface ToolContext extends PrepareContext {
  call_id: string;
  /** The workstream that people see: its own id, or that of a sub-agent's topmost parent. */
  root_ws_id: string;
  signal: AbortSignal;
  log: Log;
  /** Seconds; the tool's own parameter may ask for less or more within its limits. */
  timeout_s: number;
  /** Characters that the result may have. */
  output_limit: number;
  /** A piece of output for people who watch. Safe to call at any rate. */
  emit(chunk: string): void;
  spawner: Spawner;
  memories: MemoryStore;
  search: SearchStore;
  /** Keeps bytes that a message or result refers to. */
  saveAttachment(
    bytes: Uint8Array,
    about: { filename: string; media_type: string; width?: number; height?: number },
  ): Promise<AttachmentReference>;
  /** One question to the model without tools and without the conversation. */
  ask(question: Question): Promise<QuestionAnswer>;
  /** Runs a sub-agent to its end: a child workstream with its own journal. */
  delegate(request: DelegateRequest): Promise<DelegateResult>;
  /** Puts a text before a person; resolves when one has answered. */
  review(request: { content: string; round: number }): Promise<ReviewAnswer>;
  /** Puts what an MCP server wants before people; resolves with what they answer. */
  askPeople(server: string, request: McpRequest, signal: AbortSignal): Promise<McpRequestReply>;
  /** Sends a notification through a gateway. */
  deliver(request: { target: NotificationTarget; message: string; title?: string }): Promise<DeliverResult>;
  /** Looks tools up among those that are deferred. */
  searchTools(query: string): ToolSearchResult;
}

export interface DelegateRequest {
  kind: "task" | "plan";
  prompt: string;
  /** Earlier words that the sub-agent builds on, such as a former plan. */
  context?: string;
  /** 1 and up: the same call may go on with its sub-agent; a round that was asked for is not asked for again. */
  round?: number;
}

export type DelegateResult = (
  | { ok: true; text: string; ws_id: string }
  | { ok: false; error: string; ws_id?: string }
) & {
  /** What the sub-agent has used so far, by the alias of the model. */
  usage?: UsageByModel;
};

export type ReviewAnswer =
  | { decision: "accepted" }
  | { decision: "rejected"; by: string | null }
  | { decision: "changes"; feedback: string; by: string | null }
  | { decision: "skipped" };

export type DeliverResult =
  | { ok: true; notification_id: string; deliveries: NotificationDelivery[] }
  /** `unknown`: it may have been delivered all the same. */
  | { ok: false; notification_id: string; error: string; deliveries: NotificationDelivery[]; unknown?: true };

export interface ToolSearchResult {
  /** The best of those that were not visible yet. */
  found: ModelTool[];
  /** How many of those matched in all. */
  total: number;
  /** Names among the best matches that were found before. */
  already_visible: string[];
  /** Names with reasons. */
  unavailable_servers: string[];
}

/** One built-in tool: a leaf. Its JSON file says what a model is told. */
export interface Tool {
  readonly name: string;
  /** Validates and describes. Arguments have passed the JSON schema. */
  prepare(args: JsonObject, context: PrepareContext): Promise<Preparation> | Preparation;
  execute(plan: JsonValue, context: ToolContext): Promise<ToolOutput>;
  /** Takes up a call that had started when the server stopped, for tools that can tell how far it got. */
  resume?(plan: JsonValue, context: ToolContext): Promise<ToolOutput>;
}
