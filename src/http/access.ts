import { authorize, type WorkstreamAction } from "../auth/authorize.ts";
import type { Principal } from "../contracts/principal.ts";
import type { Store, WorkstreamRow } from "../contracts/store.ts";
import { forbidden, unknownWorkstream } from "./failures.ts";

const WORKSTREAM_ID = /^[0-9a-f]{32}$/;

const REFUSALS: Record<WorkstreamAction, string> = {
  see: "Your account may not read workstreams.",
  speak: "You may watch this workstream, but not speak in it. Ask its owner for an invitation.",
  approve: "You may not decide in this workstream. Its owner may, or somebody with the approve role.",
  deny: "You may not decide in this workstream. Its owner may, or somebody with the approve role.",
  close: "Only the owner of this workstream may close it.",
  steer: "Only the owner of this workstream may do that.",
};

/** The workstream, if this person may do this to it. Throws a 404 for what they must not know of, else a 403. */
export async function accessWorkstream(
  store: Pick<Store, "workstreams" | "channels">,
  principal: Principal,
  ws_id: string | undefined,
  action: WorkstreamAction,
): Promise<WorkstreamRow> {
  if (ws_id === undefined || !WORKSTREAM_ID.test(ws_id)) throw unknownWorkstream();
  const row = await store.workstreams.get(ws_id);
  if (row === null) throw unknownWorkstream();
  const { user_id } = principal;
  const owner = row.user_id !== null && row.user_id === user_id;
  // Who is invited into a conversation sees its sub-agents as well.
  const invited = !owner && user_id !== null && (await store.workstreams.isInvited(row.parent_ws_id ?? ws_id, user_id));
  const shown = user_id === null && (await store.channels.routesOfWorkstream(row.parent_ws_id ?? ws_id)).length > 0;
  const authorization = authorize(principal, action, { owner_id: row.user_id, invited, shown });
  if (authorization.allowed) return row;
  throw authorization.reason === "hidden" ? unknownWorkstream() : forbidden(REFUSALS[action]);
}
