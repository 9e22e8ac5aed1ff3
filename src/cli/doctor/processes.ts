import { localAddress } from "../../config/load.ts";
import { openConfiguredStore } from "../store_access.ts";
import type { Check, CheckContext, Finding } from "./check.ts";
import { failed, fetchJson, ok, warning } from "./check.ts";

// A gateway writes every 30 s; after four silences it is taken for gone, as everywhere.
const HEALTHY_MS = 120_000;

/** Whether server and gateway run and find each other. */
export const processesCheck: Check = {
  name: "processes",
  async run(context) {
    return [await server(context), ...(await gateways(context))];
  },
};

async function server({ config, signal }: CheckContext): Promise<Finding> {
  const url = localAddress(config.server.host, config.server.port);
  const answer = await fetchJson(`${url}/health`, signal);
  if (answer.ok && answer.status === 200) return ok("server", `It runs at ${url}.`);
  return warning("server", `Nothing answers at ${url}.`, "Run turnstone start, if it should be running.");
}

async function gateways({ config, signal }: CheckContext): Promise<Finding[]> {
  const store = await openConfiguredStore(config);
  try {
    const since = new Date(Date.now() - HEALTHY_MS).toISOString();
    const rows = await store.services.healthy("channel", since);
    if (rows.length === 0) return [warning("gateway", "None has said that it runs.", "Run turnstone start.")];
    return await Promise.all(rows.map(({ url }) => gateway(url, signal)));
  } finally {
    await store.close();
  }
}

async function gateway(url: string, signal: AbortSignal): Promise<Finding> {
  const answer = await fetchJson(`${url}/health`, signal);
  if (answer.ok && answer.status === 200) return ok("gateway", `It answers at ${url}.`);
  const fix = "Set TURNSTONE_CHANNEL_ADVERTISE_URL to an address at which the server reaches the gateway.";
  return failed("gateway", `It says that it runs at ${url}, where nothing answers.`, fix);
}
