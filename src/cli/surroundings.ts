import { dirname, join } from "node:path";
import type { PromptInputs } from "../agent/prompt.ts";
import type { Config } from "../config/load.ts";
import type { Store, WorkstreamRow } from "../contracts/store.ts";
import { renderMemoryIndex } from "../lib/memory_index.ts";
import { openWorkspace, type Workspace } from "../lib/workspace.ts";
import type { EngineSettings } from "../workstream/services.ts";
import { makeFolder } from "../lib/make_folder.ts";

/** Memories that the index of a prompt is made from; its own limit is in bytes. */
const INDEXED_MEMORIES_MAX = 100;

/** The folder of the channel that shows the workstream, else the configured one, else one of its own. */
export async function workspaceOf(row: WorkstreamRow, config: Config, store: Store): Promise<Workspace> {
  const { root, channels } = config.workspace;
  const routes = Object.keys(channels).length === 0 ? [] : await store.channels.routesOfWorkstream(row.ws_id);
  const of_channel = routes
    .flatMap((route) => [route.channel_id, route.parent_channel_id ?? ""])
    .map((id) => (Object.hasOwn(channels, id) ? channels[id] : undefined))
    .find((folder) => folder !== undefined);
  const folder = of_channel ?? root ?? join(config.server.data_dir, "workspaces", row.ws_id);
  makeFolder(folder, 0o700);
  return openWorkspace(folder, { off_limits: [config.server.data_dir, dirname(config.config_path)] });
}

/** What the system prompt of a workstream is made of. */
export async function promptInputs(
  row: WorkstreamRow,
  workspace: string,
  settings: EngineSettings,
  store: Store,
): Promise<PromptInputs> {
  const [memory_index, routes] = await Promise.all([
    memoryIndex(row, workspace, store),
    store.channels.routesOfWorkstream(row.ws_id),
  ]);
  return {
    kind: row.kind,
    workspace,
    date: row.created.slice(0, 10),
    instructions: settings.instructions,
    memory_index,
    shared: routes.length > 0,
    sandboxed: settings.sandbox !== null,
  };
}

async function memoryIndex(row: WorkstreamRow, workspace: string, store: Store): Promise<string | null> {
  const reach = { user_id: row.user_id, workspace };
  const memories = await store.memories.list(reach, INDEXED_MEMORIES_MAX);
  if (memories.length === 0) return null;
  return renderMemoryIndex(memories, await store.memories.count(reach));
}
