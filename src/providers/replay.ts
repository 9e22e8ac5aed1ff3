import { isJsonObject } from "../protocol/json.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { AssistantMessage, ToolCall } from "../protocol/message.ts";
import { parseJson } from "./wire_text.ts";

/**
 * The vendor's own blocks of an answer, for the model that made them; null when there are none that serve. Blocks of
 * calls are made to agree with the calls that were kept: their ids may have been changed. A block whose call is gone
 * would wait for a result for ever, so then there are none.
 */
export function replayBlocks(
  message: AssistantMessage,
  provider: string,
  model: string,
  call_type: string,
  adapt: (block: JsonObject, call: ToolCall) => JsonObject,
): JsonObject[] | null {
  const { replay, tool_calls } = message;
  if (replay === undefined || replay.provider !== provider || replay.model !== model) return null;
  const parsed = parseJson(replay.blocks);
  if (!Array.isArray(parsed)) return null;
  const blocks = parsed.filter(isJsonObject);
  const calls = blocks.filter((block) => block["type"] === call_type);
  const same =
    calls.length === tool_calls.length && calls.every((block, index) => block["name"] === tool_calls[index]?.name);
  if (!same || blocks.length === 0) return null;
  let position = 0;
  return blocks.map((block) => {
    const call = block["type"] === call_type ? tool_calls[position++] : undefined;
    return call === undefined ? block : adapt(block, call);
  });
}
