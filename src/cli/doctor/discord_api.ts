import type { CheckContext, Finding } from "./check.ts";
import { failed, fetchJson } from "./check.ts";

/** Where an operator changes what Discord knows of the bot. */
export const PORTAL = "https://discord.com/developers/applications";

/** What Discord answered, or what that says. `status` is null where nothing answered. */
export type Asked = { ok: true; body: unknown } | { ok: false; status: number | null; finding: Finding };

/** Asks Discord as the bot. */
export async function ask({ config, signal }: CheckContext, path: string): Promise<Asked> {
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
  if (answer.status === 200) return { ok: true, body: answer.body };
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
