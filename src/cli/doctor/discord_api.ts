import type { Static, TSchema } from "../../protocol/schema.ts";
import type { CheckContext, Finding } from "./check.ts";
import { failed, fetchJson } from "./check.ts";

/** Where an operator changes what Discord knows of the bot. */
export const PORTAL = "https://discord.com/developers/applications";

/** What Discord answered, or what that says. `status` is null where nothing answered. */
export type Asked<Body> = { ok: true; body: Body } | { ok: false; status: number | null; finding: Finding };

/** Asks Discord as the bot. An answer that is not as Discord's are is none. */
export async function ask<Schema extends TSchema>(
  { config, signal }: CheckContext,
  path: string,
  schema: Schema,
): Promise<Asked<Static<Schema>>> {
  const { api, token } = config.discord;
  const answer = await fetchJson(`${api}/v10${path}`, signal, { authorization: `Bot ${token}` });
  if (!answer.ok) {
    const finding = failed(
      "Discord",
      `${api} does not answer (${answer.why}).`,
      "Look at the network and at [discord] api.",
    );
    return { ok: false, status: null, finding };
  }
  if (answer.status === 200) {
    const { Ajv } = await import("ajv");
    const isExpected = new Ajv({ strict: false, logger: false }).compile<Static<Schema>>(schema);
    if (isExpected(answer.body)) return { ok: true, body: answer.body };
    const message = `What ${api} answers to ${path} is not what Discord answers.`;
    const fix = "Look at [discord] api, and whether a proxy or a login page stands between.";
    return { ok: false, status: answer.status, finding: failed("Discord", message, fix) };
  }
  const finding =
    answer.status === 401
      ? failed("Discord token", "Discord refuses the token.", `Make a new one at ${PORTAL}, under Bot.`)
      : failed(
          "Discord",
          `Discord answers ${answer.status} to ${path}.`,
          "Look at the bot's invitation and its rights.",
        );
  return { ok: false, status: answer.status, finding };
}
