import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { McpRequestEvent, McpRequestResolvedEvent, ToolResultEvent } from "../../src/protocol/event.ts";
import { mcpRequestCard } from "../render/mcp_request.ts";
import { sayNo, showQuestion } from "./elsewhere.ts";
import { reveal } from "./live_card.ts";
import { turnOf, workstreamOf, type Scene } from "./scene.ts";

/** Puts what an MCP server wants before people. */
export async function onMcpRequest(scene: Scene, frame: ChannelFrame, event: McpRequestEvent): Promise<void> {
  const turn = turnOf(scene, frame.seq ?? 0);
  const { request_id, call_id, server, request } = event;
  const ws_id = workstreamOf(scene, frame);
  if (!turn.mcp_requests.has(request_id)) {
    turn.mcp_requests.set(request_id, { ws_id, elsewhere: null, call_id, server, request, decision: null });
  }
  turn.state = "attention";
  reveal(scene);
  await showMcpRequest(scene, request_id);
}

/** Shows a request as it stands. */
export async function showMcpRequest(scene: Scene, request_id: string): Promise<void> {
  const asked = scene.turn?.mcp_requests.get(request_id);
  if (asked === undefined) return;
  const { server, request, decision, ws_id } = asked;
  const shows = `mcp:${request_id}`;
  const card = mcpRequestCard(request_id, server, request, decision);
  if (await showQuestion(scene, asked, shows, card, decision === null)) return;
  await sayNo(scene, shows, () =>
    scene.gateway.server.answerMcpRequest(undefined, ws_id, request_id, { action: "cancel" }),
  );
}

/** Rewrites the card with how it ended. */
export async function onMcpRequestResolved(
  scene: Scene,
  frame: ChannelFrame,
  { request_id, action, reason, decided_by }: McpRequestResolvedEvent,
): Promise<void> {
  const asked = scene.turn?.mcp_requests.get(request_id);
  if (asked === undefined) return;
  const at = frame.at ?? new Date(scene.gateway.clock.now()).toISOString();
  asked.decision = { action, reason, by: decided_by?.name ?? null, at };
  await showMcpRequest(scene, request_id);
}

/** What a call asked for ends with the call: nobody waits for the answer any more. */
export async function endMcpRequests(scene: Scene, { call_id }: Pick<ToolResultEvent, "call_id">): Promise<void> {
  for (const [request_id, asked] of scene.turn?.mcp_requests ?? []) {
    if (asked.call_id !== call_id || asked.decision !== null) continue;
    asked.decision = { action: "cancel", reason: null, by: null, at: null };
    await showMcpRequest(scene, request_id);
  }
}
