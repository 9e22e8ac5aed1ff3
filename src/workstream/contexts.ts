import { ask, wholeText } from "../agent/ask.ts";
import { usageChange } from "../agent/usage.ts";
import type { ModelSettings } from "../contracts/provider.ts";
import type { ModelCallResult } from "../agent/model_call.ts";
import type { PrepareContext, Question, QuestionAnswer, ToolContext } from "../contracts/tool.ts";
import { newPrefixedId, sha256 } from "../lib/ids.ts";
import { timestamp } from "../lib/clock.ts";
import type { AttachmentReference } from "../protocol/event.ts";
import type { LiveWorkstream } from "./live_workstream.ts";
import { review } from "./reviews.ts";

/** A result may be this long, however much room the context has. */
const OUTPUT_CHARACTERS_MAX = 262_144;

/** A result is never cut shorter than this: a shorter one would say nothing. */
const OUTPUT_CHARACTERS_MIN = 2000;

/** Characters of a token on average, on the careful side. */
const CHARACTERS_PER_TOKEN = 3;

/** All that preparing a call may look at. The workspace must be open. */
export function prepareContext(actor: LiveWorkstream, settings: ModelSettings): PrepareContext {
  const { row, services, conversation } = actor;
  return {
    ws_id: row.ws_id,
    user_id: row.user_id,
    workspace: actor.surroundings.workspace,
    fileRead: (real_path) => conversation.files.get(real_path),
    model: { supports_vision: settings.capabilities.supports_vision },
    sub_agent: row.kind !== "main",
    clock: services.clock,
    sandbox: services.settings.sandbox,
  };
}

/** All that a running call may touch. */
export function toolContext(
  actor: LiveWorkstream,
  call_id: string,
  settings: ModelSettings,
  signal: AbortSignal,
): ToolContext {
  const { row, services, conversation } = actor;
  const { ws_id } = row;
  const chunks = services.redactStream();
  return {
    ...prepareContext(actor, settings),
    call_id,
    root_ws_id: actor.root_ws_id,
    signal,
    log: services.log,
    timeout_s: services.settings.tool_timeout_s,
    output_limit: outputLimit(actor, settings),
    emit(chunk) {
      const shown = chunks.push(chunk);
      if (shown !== "" && !actor.winding_up && conversation.turn?.results.has(call_id) === false) {
        actor.emit({ type: "tool_output_chunk", call_id, chunk: shown });
      }
    },
    spawner: services.spawner,
    memories: services.store.memories,
    search: services.store.search,
    saveAttachment: (bytes, about) => saveAttachment(actor, bytes, about),
    async ask(question) {
      const result = await ask([settings], question, signal, services);
      if (result.ok) await actor.append({ entries: [], changes: [usageChange(row, result.answer)] });
      return answerTo(question, result);
    },
    delegate: (request) => actor.host.delegate(row, call_id, request, signal),
    review: (request) => review(actor, call_id, request, signal),
    askPeople: (server, request, own_signal) => actor.mcp_requests.ask(call_id, server, request, own_signal),
    async deliver(request) {
      const own_seq = conversation.turn?.turn_seq ?? 0;
      const notification_id = `notification_${sha256(`${ws_id}\n${own_seq}\n${call_id}`).slice(0, 24)}`;
      const root = { ws_id: actor.root_ws_id, turn_seq: await actor.host.turnSeqOf(actor.root_ws_id) };
      return services.deliver({ ...request, ...root, notification_id, call_id, signal });
    },
    searchTools: (query) => services.catalog.searchTools(query, conversation.expanded_tools),
  };
}

function answerTo({ partial = false }: Question, result: ModelCallResult): QuestionAnswer {
  const whole = wholeText(result);
  if (!result.ok || (whole === null && !(partial && result.answer.stop_reason === "length"))) {
    return { ok: false, error: "The model did not answer." };
  }
  const { content, settings } = result.answer;
  return { ok: true, text: content, model: settings.alias, whole: whole !== null };
}

/** Half of what is left, shared among the calls of a batch: their results reach the model together. */
function outputLimit(actor: LiveWorkstream, settings: ModelSettings): number {
  const { truncation } = actor.services.settings;
  const left = settings.capabilities.context_window - actor.row.context_tokens;
  const sharers = Math.max(1, actor.conversation.turn?.open_calls.length ?? 1);
  const bearable = Math.floor((left * CHARACTERS_PER_TOKEN) / 2 / sharers);
  return Math.max(
    OUTPUT_CHARACTERS_MIN,
    Math.min(truncation ?? OUTPUT_CHARACTERS_MAX, OUTPUT_CHARACTERS_MAX, bearable),
  );
}

async function saveAttachment(
  actor: LiveWorkstream,
  bytes: Uint8Array,
  about: Parameters<ToolContext["saveAttachment"]>[1],
): Promise<AttachmentReference> {
  const { services, row } = actor;
  const reference = { attachment_id: newPrefixedId("att"), size: bytes.length, ...about };
  const created = timestamp(services.clock);
  await services.store.attachments.save({ ...reference, ws_id: row.ws_id, user_id: row.user_id, created }, bytes);
  return reference;
}
