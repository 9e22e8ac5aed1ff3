/** Seconds; the usual steps for web services. */
const DURATION_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

interface Series {
  method: string;
  endpoint: string;
  buckets: number[];
  sum: number;
  statuses: Map<number, number>;
}

export interface Metrics {
  /** `endpoint` is a route's template, so that the number of series stays small. */
  requestHandled(method: string, endpoint: string, status: number, seconds: number): void;
  rateLimited(): void;
  messageAccepted(): void;
  /** The lines that were counted here, in Prometheus' text format 0.0.4. */
  lines(): string[];
}

export function createMetrics(): Metrics {
  const series = new Map<string, Series>();
  let rejected = 0;
  let messages = 0;
  return {
    requestHandled(method, endpoint, status, seconds) {
      const key = `${method} ${endpoint}`;
      let one = series.get(key);
      if (one === undefined) {
        one = { method, endpoint, buckets: DURATION_BUCKETS_S.map(() => 0), sum: 0, statuses: new Map() };
        series.set(key, one);
      }
      one.sum += seconds;
      one.statuses.set(status, (one.statuses.get(status) ?? 0) + 1);
      const bucket = DURATION_BUCKETS_S.findIndex((limit) => seconds <= limit);
      if (bucket >= 0) one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1;
    },
    rateLimited() {
      rejected += 1;
    },
    messageAccepted() {
      messages += 1;
    },
    lines() {
      return [
        "# TYPE turnstone_http_requests_total counter",
        ...[...series.values()].flatMap(requestLines),
        "# TYPE turnstone_http_request_duration_seconds histogram",
        ...[...series.values()].flatMap(durationLines),
        ...metric("turnstone_ratelimit_rejected_total", "counter", rejected),
        ...metric("turnstone_messages_sent_total", "counter", messages),
      ];
    },
  };
}

/** The two lines of a metric without labels. */
export function metric(name: string, type: "counter" | "gauge", value: number): string[] {
  return [`# TYPE ${name} ${type}`, `${name} ${value}`];
}

/** Labels with their values escaped, such as `{state="idle"}`. */
export function labels(values: Record<string, string>): string {
  const escape = (text: string): string => text.replace(/[\\"\n]/g, (char) => (char === "\n" ? "\\n" : `\\${char}`));
  return `{${Object.entries(values)
    .map(([name, value]) => `${name}="${escape(value)}"`)
    .join(",")}}`;
}

function requestLines({ method, endpoint, statuses }: Series): string[] {
  return [...statuses].map(
    ([status, count]) =>
      `turnstone_http_requests_total${labels({ method, endpoint, status_code: String(status) })} ${count}`,
  );
}

function durationLines({ method, endpoint, buckets, sum, statuses }: Series): string[] {
  const name = "turnstone_http_request_duration_seconds";
  const count = [...statuses.values()].reduce((total, one) => total + one, 0);
  let below = 0;
  const steps = DURATION_BUCKETS_S.map((limit, index) => {
    below += buckets[index] ?? 0;
    return `${name}_bucket${labels({ method, endpoint, le: String(limit) })} ${below}`;
  });
  return [
    ...steps,
    `${name}_bucket${labels({ method, endpoint, le: "+Inf" })} ${count}`,
    `${name}_sum${labels({ method, endpoint })} ${sum}`,
    `${name}_count${labels({ method, endpoint })} ${count}`,
  ];
}
