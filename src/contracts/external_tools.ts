import type { ToolDefinition } from "../protocol/tool_definition.ts";
import type { SignIns } from "./mcp_sign_in.ts";
import type { Tool } from "./tool.ts";

/** A tool that is not ours. */
export interface ExternalTool {
  /** As models see it; its name is unique among all tools. */
  definition: ToolDefinition;
  tool: Tool;
  /** What its own server calls it. */
  own_name: string;
  /** All that its server says of it, for searching; a model may see less. */
  about: string;
}

/** One server's tools. The same array for as long as nothing in it changes. */
export interface ExternalServer {
  name: string;
  tools: readonly ExternalTool[];
  /** Why its tools cannot be called at present; null when they can. */
  unavailable: string | null;
}

/** All external tools at one moment; replaced as a whole when something changes. */
export interface ExternalTools {
  servers: readonly ExternalServer[];
  /** A stand-in for a tool of a server that was never reached: it waits for the server and says when there is none. */
  absent(name: string): ExternalTool | undefined;
}

/** How things stand with one server. */
export interface ExternalServerStatus {
  server: string;
  state: "connecting" | "ready" | "unavailable" | "sign_in_required" | "rejected";
  /** Why it is not ready, or what was wrong with the last refresh; null when all is well. */
  problem: string | null;
  tools: number;
  /** Tools that cannot be offered, each with the reason. */
  left_out: readonly string[];
}

/** What a refresh of one server's tools came to. */
export type RefreshReport =
  | { server: string; ok: true; added: readonly string[]; removed: readonly string[] }
  | { server: string; ok: false; error: string };

/** What people can do with external servers. */
export interface ExternalServers {
  status(): readonly ExternalServerStatus[];
  tools(): readonly ExternalTool[];
  /** Fetches the tools of one server, or of all, again; reconnects where it must. Null for an unknown name. */
  refresh(server: string | null): Promise<RefreshReport[] | null>;
  /** The prompts of all servers, as a person sees them. */
  prompts(user_id: string | null): Promise<ExternalPrompt[]>;
  /** The text of a prompt. */
  prompt(server: string, name: string, args: Record<string, string>, user_id: string | null): Promise<PromptText>;
  /** How people sign in to servers that want to know them. */
  readonly sign_ins: SignIns;
}

export interface ExternalPrompt {
  server: string;
  name: string;
  description: string;
  arguments: readonly { name: string; required: boolean }[];
}

export type PromptText = { ok: true; text: string } | { ok: false; error: string };
