import type { LiveWorkstream } from "./live_workstream.ts";

/**
 * Whose words the turn follows besides its owner's. A sub-agent works on what was said in its parent. What an owner
 * allowed, in whichever way, was allowed to the owner: it must not serve these.
 */
export async function guestsOf({ row, host, root_ws_id }: LiveWorkstream): Promise<string[]> {
  const speakers = await host.speakersOf(root_ws_id);
  return [...speakers].filter((speaker) => speaker !== row.user_id);
}
