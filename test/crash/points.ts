/**
 * Every point at which the crash tests pull the plug, without its `.before` and `.after`; a step of the journal has
 * one for each type of entry that it holds. The matrix test proves that each is passed, and that no other is.
 */
export const CRASH_POINTS = {
  server: {
    journal: [
      "user_turn",
      "assistant",
      "tool_info",
      "approve_request",
      "approval_resolved",
      "tool_started",
      "tool_result",
      "plan_review",
      "plan_resolved",
      "notification",
      "compaction",
      "status",
      "turn_ended",
      "message_accepted",
      // Steps without an entry: what a title used, and a state or a count alone.
      "usage_added",
      "state",
    ],
    store: [
      "workstreams.create",
      "workstreams.update",
      "channels.createRoute",
      "channels.savePosted",
      "channels.moveCursor",
      "notifications.open",
      "notifications.settle",
      "audit.add",
    ],
    effects: ["tool.execute", "deliver", "model.asked", "model.speaks", "model.ended"],
    answers: [
      "/v1/api/workstreams/new",
      "/v1/api/workstreams/:ws_id/send",
      "/v1/api/workstreams/:ws_id/approve",
      "/v1/api/workstreams/:ws_id/plan",
      "/v1/api/workstreams/:ws_id/cancel",
      "/v1/api/channels/:channel_type/routes",
      "/v1/api/channels/:channel_type/routes/:channel_id/cursor",
      "/v1/api/channels/:channel_type/posted",
    ],
  },
  gateway: {
    discord: ["openThread", "post", "edit", "openDm", "renameThread"],
    server: ["createWorkstream", "createRoute", "send", "approve", "plan", "cancel", "savePosted", "moveCursor"],
  },
} as const;

/** The names of the table as they stand before `.before` and `.after`. */
export function listedPoints(): string[] {
  const { server, gateway } = CRASH_POINTS;
  return [
    ...server.journal.map((type) => `journal.${type}`),
    ...server.store,
    ...server.effects,
    ...server.answers.map((path) => `answer_POST_${path}`),
    ...gateway.discord.map((method) => `discord.${method}`),
    ...gateway.server.map((method) => `server.${method}`),
  ].toSorted();
}

/** Names of points as they stand in the table, each once. */
export function tableNames(passed: Iterable<string>): string[] {
  const names = [...passed].flatMap((point) => {
    const name = point.replace(/\.(before|after)$/, "");
    return name.startsWith("journal.")
      ? name
          .slice("journal.".length)
          .split("+")
          .map((type) => `journal.${type}`)
      : [name];
  });
  return [...new Set(names)].toSorted();
}
