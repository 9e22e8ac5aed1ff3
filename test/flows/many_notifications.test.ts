import { expect, test } from "vitest";
import { startBench, JWT_SECRET } from "../../gateway/testing/bench.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { createDelivery } from "../../src/workstream/delivery.ts";
import { temporaryStore } from "../support/temporary_store.ts";

const COUNT = 200;

test("of 200 notifications at once none is lost, none comes twice, and Discord is not asked too fast (NTFY-19)", async () => {
  await using bench = await startBench();
  const { practice, server } = bench;
  const kept = await temporaryStore();
  const people = Array.from({ length: COUNT }, (_value, index) => `person${index}`);
  for (const name of people) server.links.set(practice.admin.addMember({ name }), { user_id: name, scopes: "read" });
  await kept.store.services.heartbeat({
    service_type: "channel",
    service_id: "one",
    url: `http://127.0.0.1:${bench.gateway.port}`,
    metadata: {},
    last_heartbeat: new Date().toISOString(),
  });
  const deliver = createDelivery({
    store: kept.store,
    clock: systemClock,
    log: silentLog,
    jwt_secret: JWT_SECRET,
    redact: (text) => text,
  });
  const results = await Promise.all(
    people.map(async (username, index) => {
      const ws_id = index.toString(16).padStart(32, "0");
      await kept.converse(ws_id, "u1", ["hi"]);
      const { signal } = new AbortController();
      const of_call = { notification_id: `n${index}`, ws_id, turn_seq: 1, call_id: "c" };
      return deliver({ ...of_call, target: { username }, message: `The build of ${username} is green.`, signal });
    }),
  );
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
  for (const name of people) {
    expect(practice.dm(name).map(({ content }) => content)).toEqual([`The build of ${name} is green.`]);
  }
  expect(practice.requests.filter(({ status }) => status === 429)).toEqual([]);
  await kept.remove();
}, 120_000);
