import * as Type from "./schema.ts";
import type { JsonValue } from "./json.ts";

/** One call of a batch as a person sees it, asked for or not. */
export interface ApprovalItem {
  call_id: string;
  /** One line: what it is, such as `bash: git status`. */
  header: string;
  /** All that will run or be written: the whole script, the whole diff. */
  preview: string;
  func_name: string;
  /** What "always" would cover in words of policy: usually the tool's name, `overwrite_file` for an unread file. */
  approval_label: string;
  needs_approval: boolean;
  /** Why the call cannot run; such an item is never approvable. */
  error: string | null;
  /** Things a person should know before saying yes, such as "runs without a sandbox". */
  notes?: string[];
  /** Red instead of orange on the card. */
  destructive?: boolean;
}

/**
 * Why a settlement happened; `unreachable`: nobody could be asked; `judge`: a second model found little risk, and the
 * settings let that be enough.
 */
export const SETTLEMENT_REASONS = ["person", "expired", "cancelled", "policy", "unreachable", "judge"] as const;
export type SettlementReason = (typeof SETTLEMENT_REASONS)[number];

/** What a second model says about a call, from harmless to not. */
export const RISKS = ["low", "medium", "high"] as const;
export type Risk = (typeof RISKS)[number];

/** A second opinion on one call. It decides nothing by itself. */
export interface Assessment {
  risk: Risk;
  /** One short sentence. */
  reason: string;
}

/** Who pressed. */
export interface DecidedBy {
  user_id: string;
  name: string;
}

/** How far a grant reaches. */
export const GrantScope = Type.Object(
  {
    match: Type.Enum(["exact", "prefix", "tool"]),
    prefix: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    for: Type.Enum(["workstream", "user"]),
    expires_in_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000 })),
  },
  { additionalProperties: false },
);
export type GrantScope = Type.Static<typeof GrantScope>;

export const ApproveBody = Type.Object(
  {
    approved: Type.Boolean(),
    feedback: Type.Optional(Type.Union([Type.String({ maxLength: 4000 }), Type.Null()])),
    always: Type.Optional(Type.Boolean()),
    scope: Type.Optional(GrantScope),
    cycle_id: Type.Optional(Type.String({ maxLength: 64 })),
    call_id: Type.Optional(Type.String({ maxLength: 128 })),
    calls: Type.Optional(Type.Record(Type.String({ maxLength: 128 }), Type.Boolean(), { maxProperties: 128 })),
  },
  { additionalProperties: false },
);
export type ApproveBody = Type.Static<typeof ApproveBody>;

export const ApproveAnswer = Type.Object({ status: Type.Literal("ok"), cycle_id: Type.String() });
export type ApproveAnswer = Type.Static<typeof ApproveAnswer>;

export const PlanBody = Type.Object(
  {
    feedback: Type.String({
      maxLength: 8000,
      description: "Empty accepts, reject rejects, other text asks for changes",
    }),
    review_id: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { additionalProperties: false },
);
export type PlanBody = Type.Static<typeof PlanBody>;

/** A standing permission, made by "Always". */
export interface Grant {
  grant_id: string;
  /** Null: for all workstreams of the person. */
  ws_id: string | null;
  user_id: string;
  /** The tool, or its `approval_label` where that is narrower. */
  tool: string;
  match: "exact" | "prefix" | "tool";
  /** The exact primary argument, or the words it must begin with; null for the whole tool. */
  pattern: string | null;
  created: string;
  expires: string | null;
  revoked: string | null;
}

/** What an approval is bound to; `hash` covers tool, arguments and preview. */
export interface BoundCall {
  call_id: string;
  name: string;
  arguments: JsonValue;
  plan: JsonValue;
  hash: string;
}
