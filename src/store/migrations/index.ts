import { initial } from "./0001_initial.ts";
import { budgets } from "./0002_budgets.ts";
import { ended_sessions } from "./0003_ended_sessions.ts";
import { guests_of_user } from "./0004_guests_of_user.ts";
import { mcp_sign_ins } from "./0005_mcp_sign_ins.ts";
import { closings } from "./0006_closings.ts";
import { channel_marks } from "./0007_channel_marks.ts";
import type { Migration } from "./migration.ts";

/** All steps, in their order. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  budgets,
  ended_sessions,
  guests_of_user,
  mcp_sign_ins,
  closings,
  channel_marks,
];
