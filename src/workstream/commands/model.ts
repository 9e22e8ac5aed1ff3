import { modelChain } from "../../agent/models.ts";
import type { ModelSettings } from "../../contracts/provider.ts";
import type { Command } from "./command.ts";

/** Shows the models and what is believed of the one in use, or chooses another. */
export const model: Command = {
  name: "model",
  usage: "/model [alias]",
  summary: "shows the models, or chooses one for this workstream",
  async run({ actor, words }) {
    const registry = actor.services.models();
    const alias = words[0];
    if (alias !== undefined) {
      if (!registry.models.has(alias)) {
        return `There is no model ${alias}; known are ${[...registry.models.keys()].join(", ")}.`;
      }
      await actor.services.store.workstreams.update(actor.row.ws_id, { model_alias: alias });
      actor.row.model_alias = alias;
      return `This workstream now uses ${alias}.`;
    }
    const current = modelChain(registry, actor.row.model_alias)[0];
    const lines = [...registry.models.values()].map(
      (settings) =>
        `${settings.alias === current?.alias ? "*" : "-"} ${settings.alias}: ${settings.model} (${settings.provider})`,
    );
    if (current === undefined) return lines.join("\n");
    return `${lines.join("\n")}\n\nWhat is believed of ${current.alias}:\n${beliefs(current).join("\n")}`;
  },
};

function beliefs({ model: name, capabilities, believed }: ModelSettings): string[] {
  const configured = new Set(believed?.configured);
  const known_as = believed?.known_as ?? null;
  const source = known_as === null ? `safe for a model that is not known, as ${name} is` : `known of ${known_as}…`;
  return Object.entries(capabilities).map(
    ([key, value]) => `${key} = ${JSON.stringify(value)} (${configured.has(key) ? "configured" : source})`,
  );
}
