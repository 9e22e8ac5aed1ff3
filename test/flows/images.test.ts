import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RecordedRequest } from "../support/model_server/model_server.ts";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

/** A red square of 2×2. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
const DATA_URL = `data:image/png;base64,${PNG}`;

let product: Product;

beforeAll(async () => {
  product = await startProduct();
  writeFileSync(join(product.workspace, "square.png"), Buffer.from(PNG, "base64"));
}, 120_000);

afterAll(() => product?.close());

/** Starts the server again with another model. */
async function useModel(provider: string, model: string, base_url: string, env = {}): Promise<void> {
  await product.stopServer();
  const own = { TURNSTONE_PROVIDER: provider, TURNSTONE_MODEL: model, TURNSTONE_BASE_URL: base_url };
  await product.startServer({ ...own, TURNSTONE_API_KEY: "sk-test", ...env });
}

/** Ada attaches the picture, the model reads the same one from the workspace; answers the model's last request. */
async function showPicture(about: string): Promise<RecordedRequest> {
  const { practice, model } = product;
  model.script([
    reply.toolCalls([{ name: "read_file", arguments: { path: "square.png" } }]),
    reply.text(`Answer about ${about}.`),
  ]);
  const attachments = [{ filename: "sent.png", content_type: "image/png", content: Buffer.from(PNG, "base64") }];
  const said = practice.as("Ada").say("general", `<@${practice.bot_id}> what is this, ${about}?`, { attachments });
  await practice.waitFor(() => practice.threads("general").some(({ id }) => id === said.id), { timeout_ms: 30_000 });
  await practice.waitFor(() => practice.channelAsText(said.id).includes(`Answer about ${about}.`), {
    timeout_ms: 30_000,
  });
  expect(model.problems).toEqual([]);
  const last = model.requests.at(-1);
  if (last === undefined) throw new Error("The model was not asked.");
  return last;
}

/** All parts of a request that are pictures, wherever they stand. */
function pictures(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(pictures);
  if (typeof value !== "object" || value === null) return [];
  const record = value as Record<string, unknown>;
  if (["image", "image_url", "input_image"].includes(String(record["type"]))) return [record];
  return Object.values(record).flatMap(pictures);
}

test("a model behind chat completions that sees gets the attached picture and the one that it read", async () => {
  const config = join(dirname(product.data_dir), "sees.toml");
  writeFileSync(config, "[models.default.capabilities]\nsupports_vision = true\n");
  await useModel("openai-compatible", "scripted", product.model.base_url, { TURNSTONE_CONFIG: config });
  const request = await showPicture("chat");
  expect(request.wire).toBe("chat");
  const part = { type: "image_url", image_url: { url: DATA_URL } };
  expect(pictures(request.body)).toMatchObject([part, part]);
}, 120_000);

test("a model behind Responses that sees gets both pictures", async () => {
  await useModel("openai", "gpt-5", product.model.base_url);
  const request = await showPicture("responses");
  expect(request.wire).toBe("responses");
  const part = { type: "input_image", image_url: DATA_URL };
  expect(pictures(request.body)).toMatchObject([part, part]);
}, 120_000);

test("a model behind Messages that sees gets both pictures", async () => {
  await useModel("anthropic", "claude-sonnet-4-5", product.model.anthropic_base_url);
  const request = await showPicture("messages");
  expect(request.wire).toBe("anthropic");
  const part = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
  expect(pictures(request.body)).toMatchObject([part, part]);
}, 120_000);

test("a model that does not see gets words, and no bytes", async () => {
  await useModel("openai-compatible", "scripted", product.model.base_url);
  const request = await showPicture("nothing");
  expect(pictures(request.body)).toEqual([]);
  expect(request.raw_body).not.toContain(PNG.slice(0, 40));
  expect(request.raw_body).toContain("sent.png");
  expect(request.raw_body).toContain("this model cannot see pictures");
  expect(request.raw_body).toContain("PNG picture, 2×2");
}, 120_000);
