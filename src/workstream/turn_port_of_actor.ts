import { costOfAll, modelChain } from "../agent/models.ts";
import type { TurnProgress } from "../agent/conversation.ts";
import { isShutdown, type TurnPort } from "../agent/turn_port.ts";
import type { ModelSettings } from "../contracts/provider.ts";
import type { PolicyInputs } from "../pipeline/policy.ts";
import { timestamp } from "../lib/clock.ts";
import type { StatusEvent } from "../protocol/event.ts";
import type { LiveWorkstream } from "./live_workstream.ts";
import { budgetError } from "./budget.ts";
import { prepareContext, toolContext } from "./contexts.ts";
import { guestsOf } from "./guests.ts";

/** What the turn loop sees of an actor. */
export function createTurnPort(actor: LiveWorkstream, signal: AbortSignal): TurnPort {
  const { row, services, conversation } = actor;
  return {
    workstream: row,
    conversation,
    recovered_seq: actor.recovered_seq,
    signal,
    async append(draft) {
      signal.throwIfAborted();
      await actor.appendPersistently(draft, signal);
    },
    async appendResult(draft, call_id) {
      const { turn } = conversation;
      const late = actor.winding_up || isShutdown(signal) || turn === null || turn.results.has(call_id);
      const asked = turn?.open_calls.some((call) => call.id === call_id) === true;
      if (asked && !late) await actor.appendPersistently(draft, signal);
    },
    emit(event) {
      actor.stream.flush();
      actor.emit(event);
    },
    note(message) {
      actor
        .append({ entries: [{ event: { type: "info", message } }] })
        .catch((error: unknown) => services.log.error("journal.write_failed", { ws_id: row.ws_id, error }));
    },
    setState: (state) => actor.setState(state),
    delta: (kind, text) => actor.stream.add(kind, text),
    setStream: (stream) => actor.stream.reset(stream),
    joinQueued: () => actor.inbox.join(signal),
    assess: (cycle_id) => actor.host.assess(actor, cycle_id),
    decided: () => actor.decided(signal),
    models: () => modelsOf(actor),
    systemPrompt: () => actor.surroundings.prompt(),
    policy: () => policyOf(actor),
    prepareContext: (settings) => prepareContext(actor, settings),
    toolContext: (call_id, settings) => toolContext(actor, call_id, settings, signal),
    stopping: () => actor.host.isStopping(),
    now: () => timestamp(services.clock),
    status: (turn) => statusOf(actor, turn),
    budgetError: () => budgetError({ ...services, budget: services.settings.budget }, row.user_id),
    approvalExpiry() {
      const { approval_timeout_s } = services.settings;
      return approval_timeout_s === 0 ? null : new Date(services.clock.now() + approval_timeout_s * 1000).toISOString();
    },
  };
}

function modelsOf(actor: LiveWorkstream): ModelSettings[] {
  const registry = actor.services.models();
  const own = actor.row.kind === "main" ? actor.row.model_alias : (registry.agent_alias ?? actor.row.model_alias);
  return modelChain(registry, own);
}

async function policyOf(actor: LiveWorkstream): Promise<PolicyInputs> {
  const { row, services } = actor;
  const { user_id } = row;
  const { skip_permissions } = services.settings;
  const guests = await guestsOf(actor);
  const by_owner = guests.length === 0;
  const all = user_id === null || !by_owner ? [] : await services.store.approvals.grants({ user_id });
  const grants = all.filter((grant) => grant.ws_id === null || grant.ws_id === actor.root_ws_id);
  return {
    rules: services.settings.rules,
    grants,
    usernames: await namesOf(actor, user_id === null ? guests : [user_id, ...guests]),
    auto_approve: skip_permissions || (by_owner && row.auto_approve),
    auto_approve_tools: by_owner ? row.auto_approve_tools : [],
    person_only: !by_owner,
    sub_agent_auto: row.kind === "main" ? null : services.catalog.sets.AGENT_AUTO_TOOLS,
    now: timestamp(services.clock),
  };
}

/** Only rules ask for names. Somebody who is gone keeps an empty one, which no rule names. */
async function namesOf({ services }: LiveWorkstream, user_ids: readonly string[]): Promise<string[]> {
  if (services.settings.rules.length === 0) return [];
  const users = await Promise.all(user_ids.map((user_id) => services.store.users.get(user_id)));
  return users.map((user) => user?.username ?? "");
}

function statusOf(actor: LiveWorkstream, turn: TurnProgress): StatusEvent | null {
  const { usage, started_at } = turn;
  if (usage === null) return null;
  const registry = actor.services.models();
  // The model that answered last, which a fallback may have been.
  const settings = registry.models.get(usage.model_alias) ?? modelsOf(actor)[0];
  const { context_window } = settings?.capabilities ?? { context_window: 0 };
  const cost = costOfAll(registry, usage.by_model);
  const { prompt_tokens, completion_tokens, total_tokens, cache_creation_tokens, cache_read_tokens } = usage.last;
  return {
    type: "status",
    prompt_tokens,
    completion_tokens,
    total_tokens,
    context_window,
    pct: context_window === 0 ? 0 : Math.round((total_tokens / context_window) * 1000) / 10,
    effort: settings?.effort ?? "",
    ...(cache_creation_tokens === undefined ? {} : { cache_creation_tokens }),
    ...(cache_read_tokens === undefined ? {} : { cache_read_tokens }),
    ...(cost === undefined ? {} : { cost_usd: cost }),
    model_alias: usage.model_alias,
    ...(settings === undefined ? {} : { model: settings.model }),
    duration_ms: Math.max(0, actor.services.clock.now() - Date.parse(started_at)),
  };
}
