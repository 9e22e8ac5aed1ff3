import pRetry from "p-retry";
import { isShutdown } from "../agent/turn_port.ts";
import { mintJwt } from "../auth/jwt.ts";
import type { NotificationRow, ServiceRow, Store } from "../contracts/store.ts";
import type { DeliverResult } from "../contracts/tool.ts";
import { timestamp, type Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { AUDIENCE_CHANNEL } from "../protocol/auth.ts";
import {
  HEARTBEAT_HEALTHY_S,
  NOTIFICATION_LENGTH_MAX,
  NOTIFICATION_TITLE_LENGTH_MAX,
  type NotificationDelivery,
  type NotifyRequest,
} from "../protocol/notification.ts";
import { notifyUrl, postNotification, type GatewayAnswer } from "./channel_gateway.ts";
import type { Delivery } from "./services.ts";

/** A turn that has more to say to people should say it in its answer. */
export const NOTIFICATIONS_PER_TURN_MAX = 5;

/** After the first attempt; the waits between them are one second and three. */
const RETRIES = 2;
const FIRST_WAIT_MS = 1000;
const WAIT_FACTOR = 3;

/** Where a gateway broke off it is given the time of a restart: it finds out whether it had delivered. */
const RETRIES_WHILE_UNKNOWN = 5;

/** Where it has more than it can do, its pace is no fault of this notification: some minutes' worth of others go first. */
const RETRIES_WHILE_BUSY = 20;
const WAIT_MS_MAX = 9000;

/** For one gateway; its own limit is below that, so that a slow platform is reported and not cut off. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Gateways that one attempt asks, newest first. With one gateway at hand a delivery ends within seven minutes; each
 * further one that does not answer adds its time to each attempt.
 */
const GATEWAYS_PER_ATTEMPT_MAX = 8;

/** A token is made for each attempt and outlives its requests. */
const TOKEN_LIFETIME_S = 120;

const FAILED =
  "The notification could not be delivered, so nobody was reached by it. Say in your answer what it would have told.";
const UNKNOWN =
  "Whether the notification was delivered is unknown: the gateway broke off while it sent it. Do not send it again; say in your answer what it tells.";
const LIMIT = `${NOTIFICATIONS_PER_TURN_MAX} notifications were sent in this turn, which is the limit; this one was not sent. Say the rest in your answer.`;

export interface DeliveryOptions {
  store: Pick<Store, "notifications" | "services">;
  clock: Clock;
  log: Log;
  jwt_secret: string;
  redact: (text: string) => string;
  /** Milliseconds before the second attempt; before the last it is three times as long. 1 s where absent. */
  first_wait_ms?: number;
  /** Milliseconds for one gateway's answer; 10 s where absent. */
  request_timeout_ms?: number;
}

/**
 * Makes the sender of notifications. A notification's row is written before the first attempt and takes one of the
 * turn's places, which a failure gives back. The same id is delivered once: what was settled is answered alike again,
 * what a stop left open is taken up. Causes and addresses go to the log alone. Rejects with the reason of an aborted
 * signal.
 */
export function createDelivery(options: DeliveryOptions): (delivery: Delivery) => Promise<DeliverResult> {
  const { notifications } = options.store;
  return async (delivery) => {
    const { notification_id, signal } = delivery;
    const known = await notifications.get(notification_id);
    if (known !== null && known.state !== "sending") return resultOf(notification_id, known.deliveries);
    const row = known ?? rowOf(delivery, options);
    if (known === null && !(await notifications.open(row, NOTIFICATIONS_PER_TURN_MAX))) {
      return { ok: false, notification_id, error: LIMIT, deliveries: [] };
    }
    const { deliveries, unknown } = await attempts(row, signal, options);
    // What may have been delivered keeps its place and stays open: whoever asks again under its name finds out.
    if (unknown) return { ok: false, notification_id, error: UNKNOWN, deliveries: [], unknown: true };
    await notifications.settle(notification_id, isSent(deliveries) ? "sent" : "failed", deliveries);
    return resultOf(notification_id, deliveries);
  };
}

function isSent(deliveries: readonly NotificationDelivery[]): boolean {
  return deliveries.some((delivery) => delivery.status === "sent");
}

function resultOf(notification_id: string, deliveries: NotificationDelivery[]): DeliverResult {
  if (isSent(deliveries)) return { ok: true, notification_id, deliveries };
  return { ok: false, notification_id, error: FAILED, deliveries };
}

function rowOf(delivery: Delivery, { clock, redact }: DeliveryOptions): NotificationRow {
  const { notification_id, ws_id, call_id, turn_seq, target, title, message } = delivery;
  return {
    notification_id,
    ws_id,
    call_id,
    turn_seq,
    target,
    title: title === undefined ? null : firstCharacters(redact(title), NOTIFICATION_TITLE_LENGTH_MAX),
    message: firstCharacters(redact(message), NOTIFICATION_LENGTH_MAX),
    state: "sending",
    deliveries: [],
    created: timestamp(clock),
  };
}

/** The word that stands for a secret may be longer than the secret was. */
function firstCharacters(text: string, count: number): string {
  return text.length <= count ? text : Array.from(text).slice(0, count).join("");
}

class NotDelivered extends Error {}

/** What came of the attempts at one notification. */
interface Attempts {
  /** What the gateway that sent it reported; empty after the last attempt. */
  deliveries: NotificationDelivery[];
  /** A gateway broke off in one of them, and no later one told what became of it. */
  unknown: boolean;
  /** A gateway took no more in the last of them. */
  busy: boolean;
}

async function attempts(row: NotificationRow, signal: AbortSignal, options: DeliveryOptions): Promise<Attempts> {
  const progress: Attempts = { deliveries: [], unknown: false, busy: false };
  try {
    const deliveries = await pRetry(() => attempt(row, signal, options, progress), {
      retries: RETRIES_WHILE_BUSY,
      minTimeout: options.first_wait_ms ?? FIRST_WAIT_MS,
      maxTimeout: WAIT_MS_MAX,
      factor: WAIT_FACTOR,
      randomize: false,
      signal,
      shouldRetry: ({ error, attemptNumber }) => error instanceof NotDelivered && attemptNumber <= retriesOf(progress),
    });
    return { deliveries, unknown: false, busy: false };
  } catch (error) {
    // A stop leaves the row open: the next start takes it up. All else gives the place back.
    if (isShutdown(signal)) throw error;
    if (error instanceof NotDelivered) return progress;
    await options.store.notifications.settle(row.notification_id, "failed", []);
    throw error;
  }
}

function retriesOf({ unknown, busy }: Attempts): number {
  if (busy) return RETRIES_WHILE_BUSY;
  return unknown ? RETRIES_WHILE_UNKNOWN : RETRIES;
}

async function attempt(
  row: NotificationRow,
  signal: AbortSignal,
  options: DeliveryOptions,
  progress: Attempts,
): Promise<NotificationDelivery[]> {
  const { store, clock, log, jwt_secret } = options;
  signal.throwIfAborted();
  const since = new Date(clock.now() - HEARTBEAT_HEALTHY_S * 1000).toISOString();
  const gateways = await store.services.healthy("channel", since);
  if (gateways.length === 0) log.warn("notification.no_gateway", { notification_id: row.notification_id });
  const secret = new TextEncoder().encode(jwt_secret);
  const claims = {
    sub: "turnstone-server",
    scopes: "write",
    audience: AUDIENCE_CHANNEL,
    lifetime_s: TOKEN_LIFETIME_S,
  } as const;
  const token = await mintJwt(secret, clock, claims);
  progress.busy = false;
  for (const gateway of gateways.slice(0, GATEWAYS_PER_ATTEMPT_MAX)) {
    const answer = await askGateway(gateway, token, row, signal, options);
    if (answer.ok) return answer.deliveries;
    progress.unknown ||= answer.outcome === "unknown";
    progress.busy ||= answer.outcome === "busy";
  }
  throw new NotDelivered("No gateway delivered the notification.");
}

async function askGateway(
  { url, service_id }: ServiceRow,
  token: string,
  row: NotificationRow,
  signal: AbortSignal,
  options: DeliveryOptions,
): Promise<GatewayAnswer> {
  const { notification_id } = row;
  const endpoint = notifyUrl(url);
  if (endpoint === null) {
    const cause = "Its address is not of http or https.";
    options.log.warn("notification.gateway_skipped", { notification_id, service_id, cause });
    return { ok: false, cause, outcome: "refused" };
  }
  const timeout = AbortSignal.timeout(options.request_timeout_ms ?? REQUEST_TIMEOUT_MS);
  const answer = await postNotification(endpoint, token, requestOf(row), AbortSignal.any([signal, timeout]));
  signal.throwIfAborted();
  if (answer.ok && isSent(answer.deliveries)) return answer;
  const cause = answer.ok ? JSON.stringify(answer.deliveries) : answer.cause;
  options.log.warn("notification.gateway_failed", { notification_id, service_id, url, cause });
  return answer.ok ? { ok: false, cause, outcome: "refused" } : answer;
}

function requestOf({ notification_id, ws_id, target, title, message }: NotificationRow): NotifyRequest {
  return { target, message, ...(title === null ? {} : { title }), ws_id, notification_id };
}
