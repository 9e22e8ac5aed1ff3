import type { MemoryReach, MemoryRow } from "../../contracts/store.ts";
import type { Principal } from "../../contracts/principal.ts";
import { timestamp } from "../../lib/clock.ts";
import { MemoriesAnswer, MemoriesQuery, MemoryAnswer, MemoryBody, OkAnswer } from "../../protocol/answers.ts";
import { PATHS } from "../../protocol/paths.ts";
import { type HttpContext, personOf } from "../context.ts";
import { forbidden, notFound } from "../failures.ts";
import { type Route, route } from "../route.ts";

/** Memories in a list whose request names no limit. */
const LIST_DEFAULT = 50;

/** Memories for everybody that are looked through; they are few, since only administrators make them here. */
const GLOBAL_LIST_MAX = 10_000;

export function memoryRoutes({ store, clock }: HttpContext): Route[] {
  return [
    route({
      method: "GET",
      path: PATHS.memories,
      summary: "The caller's memories and those for everybody: the last used, or the best for a query",
      scope: "read",
      query: MemoriesQuery,
      answer: MemoriesAnswer,
      async handle({ principal, query }) {
        const reach = reachOf(principal);
        const limit = query.limit ?? LIST_DEFAULT;
        const words = query.query?.trim() ?? "";
        const rows =
          words === "" ? await store.memories.list(reach, limit) : await store.memories.search(reach, words, limit);
        return { memories: rows.map(shown), total: await store.memories.count(reach) };
      },
    }),
    route({
      method: "POST",
      path: PATHS.memories,
      summary: "Remembers something, in place of what the same key held",
      scope: "write",
      body: MemoryBody,
      answer: MemoryAnswer,
      async handle({ principal, body }) {
        const { user_id } = personOf(principal);
        const { scope = "user", key, value } = body;
        if (scope === "global") requireApprove(principal);
        const owner = scope === "global" ? "" : user_id;
        const { memory, previous } = await store.memories.save({ scope, owner, key, value }, timestamp(clock));
        return { status: "ok", memory: shown(memory), previous };
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.memory,
      summary: "Forgets something",
      scope: "write",
      answer: OkAnswer,
      async handle({ principal, params }) {
        const reach = reachOf(principal);
        const memory_id = params["memory_id"] ?? "";
        const global = (await store.memories.list({ user_id: null, workspace: "" }, GLOBAL_LIST_MAX)).some(
          (memory) => memory.memory_id === memory_id,
        );
        if (global) requireApprove(principal);
        if (!(await store.memories.removeById(memory_id, reach))) throw notFound("There is no such memory.");
        return { status: "ok" };
      },
    }),
  ];
}

/** Memories of a workspace belong to whoever works in it and are reached through a workstream's own tools. */
function reachOf(principal: Principal): MemoryReach {
  return { user_id: personOf(principal).user_id, workspace: "" };
}

function requireApprove(principal: Principal): void {
  if (!principal.scopes.has("approve")) {
    throw forbidden(
      'Only somebody who may administrate (scope "approve") keeps or forgets what is remembered for everybody.',
    );
  }
}

function shown({ memory_id, scope, key, value, created, updated }: MemoryRow): Omit<MemoryRow, "owner" | "used"> {
  return { memory_id, scope, key, value, created, updated };
}
