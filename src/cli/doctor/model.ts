import type { ModelConfig } from "../../config/models.ts";
import { createProviders } from "../../providers/index.ts";
import type { Check, Finding } from "./check.ts";
import { failed, ok, warning } from "./check.ts";

const LIST_TIMEOUT_MS = 5000;

/** Whether each model's server answers, takes the key and has the model. */
export const modelCheck: Check = {
  name: "model",
  async run({ config, signal }) {
    const models = Object.entries(config.models);
    if (models.length > 0) return Promise.all(models.map(([alias, model]) => checkModel(alias, model, signal)));
    const fix = "Set TURNSTONE_BASE_URL and TURNSTONE_MODEL, or OPENAI_API_KEY, or ANTHROPIC_API_KEY.";
    return [warning("model", "No model is set: a local server is looked for, else the demo model answers.", fix)];
  },
};

async function checkModel(alias: string, model: ModelConfig, signal: AbortSignal): Promise<Finding> {
  const part = `model ${alias}`;
  if (model.base_url === null) {
    return warning(part, "No address is set, so a local server is looked for.", "Set base_url.");
  }
  const provider = createProviders().get(model.provider);
  if (provider === undefined) return failed(part, `The provider ${model.provider} is not known.`, "Name another one.");
  const { base_url, api_key } = model;
  const until = AbortSignal.any([signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]);
  const names = await provider.listModels({ base_url, api_key: api_key ?? "" }, until);
  if (names === null) {
    return failed(part, `${base_url} does not list its models.`, "Look at the address, the key and the network.");
  }
  if (names.length === 0 && model.model !== null) return ok(part, `${base_url} answers, but lists no models.`);
  if (model.model === null) return ok(part, `${base_url} answers; it has ${names.length} models.`);
  if (names.includes(model.model)) return ok(part, `${base_url} answers and has ${model.model}.`);
  const some = names.slice(0, 5).join(", ");
  return warning(part, `${base_url} does not list ${model.model}.`, `Choose one that it has, such as ${some}.`);
}
