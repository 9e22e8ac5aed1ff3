import { afterEach, expect, test } from "vitest";
import { startEngine } from "../../test/support/engine_rig.ts";
import { says } from "../../test/support/scripted_provider.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { tellWhenDone } from "./done_notice.ts";
import type { Delivery } from "./services.ts";

let close = (): Promise<void> => Promise.resolve();
afterEach(() => close());

/** A turn that takes `minutes` by the clock; answers what was delivered. */
async function turnOf(minutes: number): Promise<Delivery[]> {
  let shift = 0;
  const clock = { ...systemClock, now: () => Date.now() + shift };
  const rig = await startEngine({ clock });
  close = rig.close;
  const created = new Date().toISOString();
  const user = { user_id: "u1", username: "ada", display_name: "Ada", password_hash: null, scopes: "write", created };
  await rig.store.users.create(user);
  const delivered: Delivery[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  tellWhenDone({
    bus: rig.bus,
    store: rig.store,
    log: silentLog,
    deliver: (delivery) => {
      delivered.push(delivery);
      resolve();
      return Promise.resolve({ ok: true, notification_id: delivery.notification_id, deliveries: [] });
    },
  });
  const workstream = await rig.engine.create({ user_id: "u1", name: "the long one" });
  if (!workstream.ok) throw new Error(workstream.error);
  const ws = rig.watch(workstream.workstream.ws_id);
  rig.provider.script(async function* () {
    shift = minutes * 60_000;
    yield* says("Done.");
  });
  await ws.say("go");
  await ws.turnEnded();
  if (minutes >= 5) await promise;
  return delivered;
}

test("a turn longer than five minutes tells its owner once", async () => {
  const delivered = await turnOf(7);
  expect(delivered).toHaveLength(1);
  expect(delivered[0]).toMatchObject({ target: { username: "ada" } });
  expect(delivered[0]?.message).toMatch(/has finished after 7 minutes/);
});

test("a short turn tells nobody", async () => {
  expect(await turnOf(1)).toEqual([]);
});
