import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileRecord, Tool, ToolContext, ToolOutput } from "../../src/contracts/tool.ts";
import type { AttachmentReference } from "../../src/protocol/event.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { openWorkspace } from "../../src/lib/workspace.ts";

/** What a call came to: refused while preparing, or run. */
export type CallResult = { prepared: false; error: string } | ({ prepared: true } & ToolOutput);

/** A temporary workspace with all that a tool may touch, and a session's memory of the files it has read. */
export interface ToolBench {
  /** The workspace's real path. */
  readonly root: string;
  /** Live: change its fields during a test. */
  readonly context: ToolContext;
  /** What tools emitted, in order. */
  readonly chunks: string[];
  /** What tools saved, by attachment id. */
  readonly attachments: Map<string, { reference: AttachmentReference; bytes: Uint8Array }>;
  readonly records: Map<string, FileRecord>;
  /** A path in the workspace. */
  path(...parts: string[]): string;
  /** Takes fields over into the context; answers itself. */
  with(fields: Partial<ToolContext>): ToolBench;
  /** Prepares and executes at once, and remembers the files as the pipeline would. */
  call(tool: Tool, args: JsonObject): Promise<CallResult>;
  /** Executes a plan and remembers the files as the pipeline would. */
  execute(tool: Tool, plan: Parameters<Tool["execute"]>[0]): Promise<ToolOutput>;
  /** Removes the workspace. */
  remove(): void;
}

/**
 * Builds a bench. `fields` override the context; what is not given and needs a part of the server (store, model,
 * gateway, spawner) throws "not provided" when it is used.
 */
export function toolBench(fields: Partial<ToolContext> = {}): ToolBench {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-tool-"));
  const workspace = fields.workspace ?? openWorkspace(folder);
  const records = new Map<string, FileRecord>();
  const chunks: string[] = [];
  const attachments: ToolBench["attachments"] = new Map();
  const context: ToolContext = {
    ws_id: "a".repeat(32),
    user_id: "b".repeat(32),
    workspace,
    fileRead: (real_path) => records.get(real_path),
    model: { supports_vision: true },
    sub_agent: false,
    clock: systemClock,
    sandbox: null,
    call_id: "call_1",
    root_ws_id: "a".repeat(32),
    signal: new AbortController().signal,
    log: silentLog,
    timeout_s: 30,
    output_limit: 256 * 1024,
    emit: (chunk) => void chunks.push(chunk),
    spawner: notProvided("spawner"),
    memories: notProvided("memories"),
    search: notProvided("search"),
    saveAttachment: async (bytes, about) => {
      const reference = { attachment_id: `att_${attachments.size + 1}`, size: bytes.byteLength, ...about };
      attachments.set(reference.attachment_id, { reference, bytes });
      return reference;
    },
    ask: notProvided("ask"),
    delegate: notProvided("delegate"),
    review: notProvided("review"),
    askPeople: notProvided("askPeople"),
    deliver: notProvided("deliver"),
    searchTools: notProvided("searchTools"),
    ...fields,
  };
  const bench: ToolBench = {
    root: workspace.root,
    context,
    chunks,
    attachments,
    records,
    path: (...parts) => join(workspace.root, ...parts),
    with(more) {
      Object.assign(context, more);
      return bench;
    },
    async call(tool, args) {
      const preparation = await tool.prepare(args, context);
      if (!preparation.ok) return { prepared: false, error: preparation.error };
      return { prepared: true, ...(await bench.execute(tool, preparation.plan)) };
    },
    async execute(tool, plan) {
      const result = await tool.execute(plan, context);
      for (const file of result.files ?? []) records.set(file.real_path, file);
      return result;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  return bench;
}

/** A stand-in for a part that a test did not give: any use of it throws. */
function notProvided(name: string): never {
  const refuse = (): never => {
    throw new Error(`This test uses ${name}, which was not provided.`);
  };
  return new Proxy(refuse, { get: refuse, apply: refuse }) as never;
}
