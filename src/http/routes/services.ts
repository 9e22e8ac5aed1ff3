import type { JsonObject } from "../../protocol/json.ts";
import { timestamp } from "../../lib/clock.ts";
import { OkAnswer } from "../../protocol/answers.ts";
import { HEARTBEAT_HEALTHY_S, ServiceBody, ServicesAnswer, ServicesQuery } from "../../protocol/notification.ts";
import { PATHS } from "../../protocol/paths.ts";
import type { HttpContext } from "../context.ts";
import { invalid, notFound } from "../failures.ts";
import { type Route, route } from "../route.ts";

/** Which gateways are alive and where they can be reached. */
export function serviceRoutes({ store, clock }: HttpContext): Route[] {
  return [
    route({
      method: "POST",
      path: PATHS.services,
      summary: "A service's sign of life",
      scope: "service",
      body: ServiceBody,
      answer: OkAnswer,
      async handle({ body }) {
        if (!isWebAddress(body.url)) throw invalid('"url" must begin with http:// or https://.', { field: "url" });
        // The schema has let JSON objects alone through.
        const metadata = (body.metadata ?? {}) as JsonObject;
        await store.services.heartbeat({ ...body, metadata, last_heartbeat: timestamp(clock) });
        return { status: "ok" };
      },
    }),
    route({
      method: "GET",
      path: PATHS.services,
      summary: "Services of one type that are alive",
      scope: "service",
      query: ServicesQuery,
      answer: ServicesAnswer,
      async handle({ query }) {
        const since = new Date(clock.now() - HEARTBEAT_HEALTHY_S * 1000).toISOString();
        return { services: await store.services.healthy(query.service_type, since) };
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.service,
      summary: "A service's clean goodbye",
      scope: "service",
      answer: OkAnswer,
      async handle({ params }) {
        const removed = await store.services.remove(params["service_type"] ?? "", params["service_id"] ?? "");
        if (!removed) throw notFound("There is no such service.");
        return { status: "ok" };
      },
    }),
  ];
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}
