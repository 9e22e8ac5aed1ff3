import type { FastifyInstance } from "fastify";
import type { ModelRequest, Provider, ProviderEvent } from "../contracts/provider.ts";
import type { Step, Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tool.ts";
import { betweenCrashPoints, crashPoint, crashPointsArmed, withCrashPoints } from "../lib/crash_point.ts";
import type { Delivery, EngineServices } from "../workstream/services.ts";

/*
 * Where the crash tests pull the plug: around every write of the journal and every effect on the world outside. The
 * parts are wrapped where they are put together, and only in a process of these tests, so that the code that is tested
 * knows nothing of it.
 */

/**
 * Points around everything that is written, the journal's by what a step says: `journal.assistant+tool_info.before`.
 */
export function storeWithCrashPoints<Kept extends Store>(store: Kept): Kept {
  if (!crashPointsArmed()) return store;
  const { journal } = store;
  const commit = async (step: Step | (() => Step)): Promise<void> => {
    let name = "";
    await journal.commit(() => {
      const made = typeof step === "function" ? step() : step;
      name = `journal.${stepName(made)}`;
      crashPoint(`${name}.before`);
      return made;
    });
    crashPoint(`${name}.after`);
  };
  return {
    ...store,
    journal: { ...journal, commit },
    workstreams: withCrashPoints("workstreams", store.workstreams, ["create", "update", "remove"]),
    channels: withCrashPoints("channels", store.channels, ["createRoute", "moveCursor", "savePosted"]),
    notifications: withCrashPoints("notifications", store.notifications, ["open", "settle"]),
    memories: withCrashPoints("memories", store.memories, ["save"]),
    audit: withCrashPoints("audit", store.audit, ["add"]),
  };
}

function stepName({ entries, changes = [] }: Step): string {
  const said = entries.length > 0 ? entries.map(({ event }) => event.type) : changes.map(({ kind }) => kind);
  return [...new Set(said)].join("+") || "state";
}

/** Points around what a tool does. */
export function toolsWithCrashPoints(tools: Tool[]): Tool[] {
  return tools.map((tool) => withCrashPoints("tool", tool, ["execute", "resume"]));
}

/** Points around a notification and within an answer of a model: before it is asked, at its first words, at its end. */
export function servicesWithCrashPoints(services: EngineServices): EngineServices {
  if (!crashPointsArmed()) return services;
  const deliver = services.deliver.bind(services);
  return Object.assign(services, {
    deliver: (delivery: Delivery) => betweenCrashPoints("deliver", () => deliver(delivery)),
    providers: new Map([...services.providers].map(([name, provider]) => [name, watchedProvider(provider)])),
  });
}

function watchedProvider(provider: Provider): Provider {
  return {
    name: provider.name,
    listModels: (settings, signal) => provider.listModels(settings, signal),
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderEvent> {
      crashPoint("model.asked");
      let speaks = false;
      for await (const event of provider.stream(request, signal)) {
        if (event.type === "ended") crashPoint("model.ended");
        yield event;
        if (event.type === "content" && !speaks) crashPoint("model.speaks");
        speaks ||= event.type === "content";
      }
    },
  };
}

/** Points before and after each answer to a request that changes something. */
export function answersWithCrashPoints(app: FastifyInstance): void {
  if (!crashPointsArmed()) return;
  const point = (method: string, url: string | undefined, when: string): void => {
    if (method !== "GET" && url !== undefined) crashPoint(`answer ${method} ${url}.${when}`.replaceAll(" ", "_"));
  };
  app.addHook("onSend", async (request) => point(request.method, request.routeOptions.url, "before"));
  app.addHook("onResponse", async (request) => point(request.method, request.routeOptions.url, "after"));
}
