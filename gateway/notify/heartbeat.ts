import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { HEARTBEAT_INTERVAL_S } from "../../src/protocol/notification.ts";
import type { Gateway } from "../gateway.ts";

const SERVICE_TYPE = "channel";

/** Tells the server every half minute where this gateway can be reached; the returned function says goodbye. */
export function startHeartbeat(gateway: Gateway, port: number): () => Promise<void> {
  const { settings, server, log, adapter } = gateway;
  const service_id = `channel-${hostname()}-${randomBytes(4).toString("hex")}`;
  const url = settings.channel.advertise_url ?? `http://${advertisedHost(settings.channel.host)}:${port}`;
  const body = { service_type: SERVICE_TYPE, service_id, url, metadata: { channel_types: [adapter.channel_type] } };
  const beat = async (): Promise<void> => {
    const answer = await server.heartbeat(body);
    if (!answer.ok) log.warn("heartbeat.failed", { status: answer.status });
  };
  void beat();
  const timer = setInterval(() => void beat(), HEARTBEAT_INTERVAL_S * 1000);
  return async () => {
    clearInterval(timer);
    await server.removeService(SERVICE_TYPE, service_id);
  };
}

/** An address for all interfaces is none that others could call. */
function advertisedHost(host: string): string {
  const name = host === "0.0.0.0" || host === "::" ? hostname() : host;
  return name.includes(":") ? `[${name}]` : name;
}
