/** The longest that a timer takes. Calls end by our own watch over silence, not by a limit on the whole. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Node's own fetch gives up after 300 s without a byte; a little less, so that our watch is the first to notice. */
const FETCH_PATIENCE_MS = 290_000;

/** Whether silence of this length needs a fetch that waits longer than Node's own. */
export function needsPatience(stall_timeout_ms: number): boolean {
  return stall_timeout_ms > FETCH_PATIENCE_MS;
}

/** A fetch without limits of its own, for models that take many minutes to their first token. */
export async function patientFetch(): Promise<typeof fetch> {
  const { Agent, fetch: undiciFetch } = await import("undici");
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  // The package's own types and Node's describe one and the same standard, but not to the compiler.
  const patient: unknown = (input: string, init: object) => undiciFetch(input, { ...init, dispatcher });
  return patient as typeof fetch;
}
