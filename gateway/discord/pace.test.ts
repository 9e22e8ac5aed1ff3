import * as fc from "fast-check";
import { expect, test } from "vitest";
import { paced } from "./pace.ts";

const LIMITS = { requests: 5, window_ms: 40 };
const API = "http://discord.invalid/api/v10";

/** Counts each request somewhere between its sending and its answer, as a server far away does. */
function slowServer(travel_ms: () => [there: number, back: number]) {
  const counted: number[] = [];
  const send = async (): Promise<Response> => {
    const [there, back] = travel_ms();
    await after(there);
    counted.push(performance.now());
    await after(back);
    return new Response("{}");
  };
  return { counted, send };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The most that any window that begins with a request holds. */
function fullestWindow(times: readonly number[]): number {
  return Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + LIMITS.window_ms).length));
}

test("however unevenly requests travel, no window holds more than the limit (NTFY-19)", async () => {
  const ms = fc.integer({ min: 0, max: 30 });
  const travels = fc.array(fc.tuple(ms, ms), { minLength: 11, maxLength: 18 });
  await fc.assert(
    fc.asyncProperty(travels, async (trips) => {
      const left = [...trips];
      const { counted, send } = slowServer(() => left.shift() ?? [0, 0]);
      const request = paced(send, LIMITS);
      await Promise.all(trips.map(() => request(`${API}/channels/1/messages`, {})));
      expect(counted).toHaveLength(trips.length);
      expect(fullestWindow(counted)).toBeLessThanOrEqual(LIMITS.requests);
    }),
    { numRuns: 20 },
  );
});

test("answers to presses do not wait behind other requests", async () => {
  const { send } = slowServer(() => [0, 0]);
  const request = paced(send, { requests: 1, window_ms: 60_000 });
  await request(`${API}/channels/1/messages`, {});
  const answers = ["interactions/12/token/callback", "webhooks/34/token/messages/@original"];
  for (const path of answers) expect((await request(`${API}/${path}`, {})).status).toBe(200);
});

test("a request that is given up waits no longer, and its place goes to the next", async () => {
  const { counted, send } = slowServer(() => [0, 0]);
  const request = paced(send, { requests: 1, window_ms: 20 });
  await request(`${API}/users/@me`, {});
  const impatient = new AbortController();
  const given_up = request(`${API}/users/@me`, { signal: impatient.signal });
  const next = request(`${API}/users/@me`, {});
  impatient.abort(new Error("given up"));
  await expect(given_up).rejects.toThrow("given up");
  expect((await next).status).toBe(200);
  expect(counted).toHaveLength(2);
});
