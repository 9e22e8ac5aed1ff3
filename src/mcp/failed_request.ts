import type { ToolOutput } from "../contracts/tool.ts";
import { visible } from "../lib/visible.ts";
import type { Outcome } from "./outcome.ts";

/** Of a server's own words in a message. */
const WORDS_LENGTH_MAX = 2000;

/** JSON-RPC 2.0: unreadable, not a request, no such method, bad parameters. */
const REFUSED_UNRUN = new Set([-32_700, -32_600, -32_601, -32_602]);

/** For a call of a tool whose server cannot be reached. */
export function unavailable({ name, problem }: { name: string; problem: string | null }): string {
  return unavailableBecause(name, problem ?? "it is being connected");
}

function unavailableBecause(server: string, why: string): string {
  return `The MCP server ${server} is unavailable (${why}). The call was not run; go on without it, or try again later.`;
}

/** What a model is told of a request without an answer. `what` names it, such as a tool's own name. */
export function failedRequest(
  server: string,
  what: string,
  outcome: Exclude<Outcome, { status: "answered" }>,
  timeout_s: number,
): ToolOutput {
  switch (outcome.status) {
    case "refused":
      return REFUSED_UNRUN.has(outcome.code)
        ? withoutEffect(`The MCP server ${server} refused the call of ${what}: ${words(outcome.error)}`)
        : unknown(`The MCP server ${server} failed in ${what}: ${words(outcome.error)}`);
    case "timed_out":
      return unknown(
        `The MCP server ${server} gave no answer to ${what} within ${timeout_s} s and was told to stop. ${CHECK_FIRST}`,
      );
    case "cancelled":
      return unknown(`${what} was cancelled.`);
    case "session_expired":
      return withoutEffect(unavailableBecause(server, "its session is over"));
    case "sign_in_required":
      return withoutEffect(notSignedIn(server));
    case "lost":
      return outcome.reached
        ? unknown(`The MCP server ${server} went away during ${what} (${words(outcome.error)}). ${CHECK_FIRST}`)
        : withoutEffect(unavailableBecause(server, words(outcome.error)));
  }
}

/** For a call that needs the account of somebody who has not signed in. */
export function notSignedIn(server: string): string {
  return `The MCP server ${server} knows people by accounts of their own, and the owner of this conversation has not signed in to it. The call was not run; say that /mcp connect ${server} does it.`;
}

const CHECK_FIRST = "Whether it had an effect is unknown: check before you try again.";

function unknown(output: string): ToolOutput {
  return { output, is_error: true, effect: "unknown" };
}

function withoutEffect(output: string): ToolOutput {
  return { output, is_error: true, effect: "none" };
}

function words(text: string): string {
  return visible(text).slice(0, WORDS_LENGTH_MAX);
}
