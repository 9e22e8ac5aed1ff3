import { MEMORY_SCOPES, type MemoryScope } from "../contracts/store.ts";
import type { PrepareContext } from "../contracts/tool.ts";
import type { JsonObject } from "../protocol/json.ts";

/** Whose memory a call means. */
export type MemoryPlace = { ok: true; scope: MemoryScope; owner: string } | { ok: false; error: string };

/** What a person should know before a yes. */
export const GLOBAL_SCOPE_NOTE = "The global scope is shared by everybody on this server.";

/** The scope in `args`, `user` where absent, and who owns it here. */
export function memoryPlace(args: JsonObject, context: PrepareContext): MemoryPlace {
  const given = Object.hasOwn(args, "scope") ? args["scope"] : "user";
  const scope = MEMORY_SCOPES.find((name) => name === given);
  if (scope === undefined) return { ok: false, error: `scope must be one of ${MEMORY_SCOPES.join(", ")}.` };
  if (scope === "global") return { ok: true, scope, owner: "" };
  if (scope === "workspace") return { ok: true, scope, owner: context.workspace.root };
  if (context.user_id !== null) return { ok: true, scope, owner: context.user_id };
  return { ok: false, error: "This conversation belongs to no linked person. Use the scope workspace." };
}
