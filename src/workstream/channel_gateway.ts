import { describeError } from "../lib/log.ts";
import { isJsonObject, type JsonValue } from "../protocol/json.ts";
import { DELIVERY_STATUSES, type NotificationDelivery, type NotifyRequest } from "../protocol/notification.ts";
import { PATHS } from "../protocol/paths.ts";

/** An answer names a handful of channels; what is longer does not come from a gateway of ours. */
const ANSWER_CHARACTERS_MAX = 1024 * 1024;

/** How much of a refusal goes into the log. */
const CAUSE_CHARACTERS_MAX = 500;

export type GatewayAnswer =
  | { ok: true; deliveries: NotificationDelivery[] }
  /**
   * `cause` is for the log alone. `unknown`: it may have delivered before it fell silent; `busy`: it takes no more at
   * the moment.
   */
  | { ok: false; cause: string; outcome: "refused" | "unknown" | "busy" };

/** Where a gateway takes notifications; null for a registered address that is not of HTTP. */
export function notifyUrl(gateway_url: string): string | null {
  if (!URL.canParse(gateway_url)) return null;
  const { protocol } = new URL(gateway_url);
  return protocol === "http:" || protocol === "https:" ? `${gateway_url.replace(/\/+$/, "")}${PATHS.notify}` : null;
}

/** Hands a notification to a gateway. A redirect, which would carry the token elsewhere, is refused. Never rejects. */
export async function postNotification(
  url: string,
  token: string,
  request: NotifyRequest,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(request),
      redirect: "manual",
      signal,
    });
    const text = await boundedText(response);
    if (response.status === 200) return deliveriesIn(text);
    const cause = `HTTP ${response.status}: ${text.slice(0, CAUSE_CHARACTERS_MAX)}`;
    return { ok: false, cause, outcome: response.status === 429 ? "busy" : "refused" };
  } catch (error) {
    return { ok: false, cause: describeError(error), outcome: mayHaveArrived(error) ? "unknown" : "refused" };
  }
}

/** Codes of a connection that broke after it was made. */
const BROKEN: ReadonlySet<unknown> = new Set([
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** Whether a gateway got the request and was cut off before its answer: it may have done what it was asked for. */
function mayHaveArrived(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "TimeoutError" || ("code" in error && BROKEN.has(error.code)) || mayHaveArrived(error.cause);
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > ANSWER_CHARACTERS_MAX) throw new Error("The answer is too long.");
  }
  return text;
}

function deliveriesIn(text: string): GatewayAnswer {
  const body: unknown = JSON.parse(text);
  const results = isJsonObject(body) ? body["results"] : undefined;
  if (!Array.isArray(results)) return { ok: false, cause: "The answer holds no list of results.", outcome: "refused" };
  return { ok: true, deliveries: results.flatMap(deliveryIn) };
}

/** One result, without its reason: that is for the log. Nothing where it is none. */
function deliveryIn(result: JsonValue): NotificationDelivery[] {
  if (!isJsonObject(result)) return [];
  const { channel_type, channel_id, message_id, message_ids } = result;
  const status = DELIVERY_STATUSES.find((known) => known === result["status"]);
  if (typeof channel_type !== "string" || typeof channel_id !== "string" || status === undefined) return [];
  const ids = Array.isArray(message_ids) ? message_ids.filter((id) => typeof id === "string") : [];
  return [
    {
      channel_type,
      channel_id,
      status,
      ...(typeof message_id === "string" ? { message_id } : {}),
      ...(ids.length === 0 ? {} : { message_ids: ids }),
    },
  ];
}
