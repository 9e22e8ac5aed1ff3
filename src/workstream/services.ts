import type { Breakers } from "../agent/breaker.ts";
import type { ModelRegistry } from "../agent/models.ts";
import type { PromptInputs } from "../agent/prompt.ts";
import type { TurnDependencies } from "../agent/turn_port.ts";
import type { ExternalServers } from "../contracts/external_tools.ts";
import type { Provider } from "../contracts/provider.ts";
import type { Store, WorkstreamRow } from "../contracts/store.ts";
import type { DeliverResult } from "../contracts/tool.ts";
import type { Spawner } from "../lib/spawn.ts";
import type { Workspace } from "../lib/workspace.ts";
import type { ApprovalRule } from "../pipeline/policy.ts";
import type { Risk } from "../protocol/approval.ts";
import type { NotificationTarget } from "../protocol/notification.ts";
import type { DailyBudget } from "./budget.ts";
import type { Bus } from "./bus.ts";

/** How a second model is asked about calls that wait for a person. */
export interface JudgeSettings {
  /** Null: nobody is asked. */
  model_alias: string | null;
  /** Calls below this risk run without a person; null: a person decides about all. */
  auto_approve_below: Exclude<Risk, "low"> | null;
}

/** What the operator settled for all workstreams. */
export interface EngineSettings {
  skip_permissions: boolean;
  /** Seconds a pending approval lives; 0 for ever. */
  approval_timeout_s: number;
  rules: readonly ApprovalRule[];
  /** Seconds. */
  tool_timeout_s: number;
  /** Characters of a tool's output at most; null: what the context bears. */
  truncation: number | null;
  agent_max_turns: number;
  instructions: string | null;
  /** Whether the owner of a workstream is told by DM that a long turn of it has ended. */
  tell_owner_when_done: boolean;
  sandbox: { name: string } | null;
  budget: DailyBudget;
  judge: JudgeSettings;
}

/** A notification on its way out. */
export interface Delivery {
  /** The same for the same call, also after a restart: what was delivered under it is not delivered again. */
  notification_id: string;
  /** The workstream that people see, where an answer belongs; the limit counts its turns, whichever sub-agent sends. */
  ws_id: string;
  turn_seq: number;
  call_id: string;
  target: NotificationTarget;
  message: string;
  title?: string;
  signal: AbortSignal;
}

/** Everything that a workstream works with; made once, in one place. */
export interface EngineServices extends TurnDependencies {
  store: Store;
  bus: Bus;
  breakers: Breakers;
  providers: ReadonlyMap<string, Provider>;
  spawner: Spawner;
  /** What must be known before a call may be prepared, such as whether there is a sandbox. */
  ready: Promise<void>;
  settings: EngineSettings;
  /** Read at every use: discovery and commands may replace it. */
  models(): ModelRegistry;
  /** The folder of a workstream, made when it is first needed. */
  workspaceOf(row: WorkstreamRow): Promise<Workspace>;
  /** What a system prompt is made of, as things stand now. */
  promptInputs(row: WorkstreamRow, workspace: string): Promise<PromptInputs>;
  deliver(delivery: Delivery): Promise<DeliverResult>;
  /** Tools of others; null when no server is configured. */
  external_servers: ExternalServers | null;
}
