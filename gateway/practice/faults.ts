import type { JsonValue } from "../../src/protocol/json.ts";

/** Which requests of the bot a fault strikes. */
export interface RouteMatch {
  method?: string;
  /** A part of the path below the version, or a pattern for it. */
  path?: string | RegExp;
  /** Strikes so many times, then never again; always where absent. */
  times?: number;
}

/** What happens to them. A delay alone lets the request through afterwards. */
export type RouteFault =
  | { kind: "delay"; delay_ms: number }
  | { kind: "status"; status: number; body?: JsonValue }
  /** The socket is cut before the request is looked at. */
  | { kind: "reset" }
  /** The request is carried out and the socket cut before the answer. */
  | { kind: "lost_answer" }
  | { kind: "rate_limit"; retry_after_ms: number; scope?: "user" | "shared" | "global" };

export interface RouteFaults {
  add(match: RouteMatch, fault: RouteFault): () => void;
  /** The faults that strike this request; counted as struck. */
  strike(method: string, path: string): RouteFault[];
  clear(): void;
}

export function createRouteFaults(): RouteFaults {
  const armed = new Set<{ match: RouteMatch; fault: RouteFault; left: number }>();
  return {
    add(match, fault) {
      const entry = { match, fault, left: match.times ?? Number.POSITIVE_INFINITY };
      armed.add(entry);
      return () => armed.delete(entry);
    },
    strike(method, path) {
      const struck = [...armed].filter((entry) => matches(entry.match, method, path));
      for (const entry of struck) {
        entry.left -= 1;
        if (entry.left <= 0) armed.delete(entry);
      }
      return struck.map((entry) => entry.fault);
    },
    clear() {
      armed.clear();
    },
  };
}

function matches(match: RouteMatch, method: string, path: string): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== method) return false;
  if (match.path === undefined) return true;
  return typeof match.path === "string" ? path.includes(match.path) : match.path.test(path);
}
