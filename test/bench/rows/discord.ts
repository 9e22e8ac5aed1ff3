import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GENEROUS_RATE_LIMITS } from "../../../gateway/practice/index.ts";
import { mintJwt } from "../../../src/auth/jwt.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { AUDIENCE_CHANNEL } from "../../../src/protocol/auth.ts";
import { reply, type Reply } from "../../support/model_server/reply.ts";
import { startProduct, type Product } from "../../support/product.ts";
import { median, type Row } from "../measure.ts";

/** Threads whose turn is on while reactions are timed. */
const LIVE_THREADS = 200;
const SAMPLES = 20;

interface Played {
  product: Product;
  /** When the model last began to answer; milliseconds of `performance.now`. */
  answered(): number;
  /** Lets the turns end that wait for the model. */
  release(): void;
}

/** A product whose model does what the last words of a person say: hold, ask, tell; else it is done at once. */
async function play(): Promise<Played> {
  const product = await startProduct({
    practice: { rate_limits: GENEROUS_RATE_LIMITS },
    env: { TURNSTONE_RATELIMIT: "off" },
  });
  const held = reply.gate(reply.text("Done."));
  let at = 0;
  product.model.script(({ last_user_text, body }): Reply => {
    at = performance.now();
    if (last_user_text.includes("hold")) return held.reply;
    const told = /tell (\w+)/.exec(last_user_text)?.[1];
    const is_answered =
      JSON.stringify(body).lastIndexOf('"role":"tool"') > JSON.stringify(body).lastIndexOf('"role":"user"');
    if (is_answered) return reply.text("Done.");
    if (last_user_text.includes("ask")) return reply.toolCalls([{ name: "bash", arguments: { command: "true" } }]);
    if (told === undefined) return reply.text("Done.");
    return reply.toolCalls([{ name: "notify", arguments: { username: "ada", message: `This is ${told}.` } }]);
  });
  return { product, answered: () => at, release: held.open };
}

/** Milliseconds from a tool call until its DM is there, and of a request that asks the gateway for the same. */
async function notifyDelays({ product, answered }: Played): Promise<{ tool: number[]; direct: number[] }> {
  const { practice } = product;
  const arrives = (text: string): Promise<unknown> =>
    practice.waitFor(() => practice.dm("Ada").some(({ content }) => content === text));
  const secret = new TextEncoder().encode(readFileSync(join(product.data_dir, "jwt_secret"), "utf8").trim());
  const delays = { tool: [] as number[], direct: [] as number[] };
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const { body: opened } = await product.api("POST", "/v1/api/workstreams/new", {});
    const send = `/v1/api/workstreams/${String(opened["ws_id"])}/send`;
    await product.api("POST", send, { message: `tell tool${sample}` });
    await arrives(`This is tool${sample}.`);
    delays.tool.push(performance.now() - answered());
    const claims = { sub: "bench", scopes: "write", audience: AUDIENCE_CHANNEL, lifetime_s: 60 } as const;
    const token = await mintJwt(secret, systemClock, claims);
    const before = performance.now();
    const { ok } = await fetch(`${product.gateway_url}/v1/api/notify`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ target: { username: "ada" }, message: `This is direct${sample}.` }),
    });
    delays.direct.push(performance.now() - before);
    if (!ok) throw new Error("The gateway refused a notification.");
  }
  return delays;
}

/** Begins conversations whose turns wait for the model. */
async function openThreads({ product: { practice } }: Played): Promise<void> {
  for (let thread = 0; thread < LIVE_THREADS; thread += 1) {
    practice.as("Ada").say("general", `<@${practice.bot_id}> hold ${thread}`);
    await practice.waitFor(() => practice.threads("general").length > thread, { timeout_ms: 20_000 });
  }
  await practice.waitFor(
    () =>
      practice
        .threads("general")
        .every(({ id }) => practice.messages(id).some(({ author_id }) => author_id === practice.bot_id)),
    { timeout_ms: 120_000 },
  );
}

/** Milliseconds until a mention has its thread, and until a press is acknowledged. */
async function reactions({ product: { practice } }: Played): Promise<{ mention: number[]; press: number[] }> {
  const ada = practice.as("Ada");
  const delays = { mention: [] as number[], press: [] as number[] };
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const before = performance.now();
    const said = ada.say("general", `<@${practice.bot_id}> ask ${sample}`);
    await practice.waitFor(() => practice.threads("general").some(({ id }) => id === said.id));
    delays.mention.push(performance.now() - before);
    const card = await practice.waitFor(() =>
      practice.messages(said.id).find((message) => practice.messageAsText(message).includes("[Approve]")),
    );
    const pressed = performance.now();
    await ada.press(card, "Approve");
    delays.press.push(performance.now() - pressed);
  }
  return delays;
}

/** The rows of one run; the product is started for it alone. */
export async function discordRows(): Promise<Row[]> {
  const played = await play();
  try {
    const notify = await notifyDelays(played);
    await openThreads(played);
    const { mention, press } = await reactions(played);
    return [
      {
        name: "notify: tool call -> DM, against the gateway's own round trip",
        unit: "ms",
        floor: median(notify.direct),
        turnstone: median(notify.tool),
        bar: 3,
      },
      { name: "mention -> thread, 200 live (bar 150 ms)", unit: "ms", floor: 150, turnstone: median(mention), bar: 1 },
      {
        name: "press -> acknowledged, 200 live (bar 100 ms)",
        unit: "ms",
        floor: 100,
        turnstone: median(press),
        bar: 1,
      },
    ];
  } finally {
    played.release();
    await played.product.close();
  }
}
