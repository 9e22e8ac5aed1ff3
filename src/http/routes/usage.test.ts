import { expect, test } from "vitest";
import { newId } from "../../lib/ids.ts";
import { timestamp } from "../../lib/clock.ts";
import { bearer, createRig } from "../testing/rig.ts";

test("the dashboard says what the caller used today, and nobody else's use", async () => {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const otto = await rig.person("otto");
  const at = timestamp(rig.clock);
  const ws_id = newId();
  await rig.app.inject({
    method: "POST",
    url: "/v1/api/workstreams/new",
    headers: bearer(anna.token),
    payload: { ws_id },
  });
  const none = { cache_read_tokens: 0, cache_creation_tokens: 0 };
  const usage = { ws_id, user_id: anna.user_id, model_alias: "m", ...none, prompt_tokens: 100, completion_tokens: 10 };
  const add = (when: string, cost_usd: number | null) =>
    rig.store.journal.commit({
      ws_id,
      at,
      entries: [],
      changes: [{ kind: "usage_added", usage: { ...usage, at: when, cost_usd } }],
    });
  await add(at, 0.25);
  await add(at, null);
  await add("2020-01-01T00:00:00.000Z", 3);
  const today = async (token: string): Promise<unknown> => {
    const answer = await rig.app.inject({ url: "/v1/api/dashboard", headers: bearer(token) });
    return answer.json<{ aggregate: { usage_today: unknown } }>().aggregate.usage_today;
  };
  expect(await today(anna.token)).toEqual({ prompt_tokens: 200, completion_tokens: 20, cost_usd: 0.25 });
  expect(await today(otto.token)).toEqual({ prompt_tokens: 0, completion_tokens: 0, cost_usd: 0 });
});
