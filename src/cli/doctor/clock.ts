import type { Check } from "./check.ts";
import { failed, fetchJson, ok, warning } from "./check.ts";

// What signed tokens forgive; see `CLOCK_LEEWAY_S` in src/auth.
const LEEWAY_MS = 30_000;

/** Whether this machine's clock agrees with Discord's: tokens, deadlines and nonces depend on it. */
export const clockCheck: Check = {
  name: "clock",
  async run({ config, signal }) {
    const before = Date.now();
    const answer = await fetchJson(`${config.discord.api}/v10/gateway`, signal);
    const theirs = answer.ok && answer.date !== null ? Date.parse(answer.date) : Number.NaN;
    if (Number.isNaN(theirs)) {
      const fix = "Nothing to do on a machine without internet; else look at the network.";
      return [warning("clock", "There was no other clock to compare with.", fix)];
    }
    const off = Math.abs((before + Date.now()) / 2 - theirs);
    if (off <= LEEWAY_MS) return [ok("clock", "It agrees with Discord's.")];
    return [
      failed(
        "clock",
        `It is ${Math.round(off / 1000)} s off.`,
        "Turn on time synchronisation, such as systemd-timesyncd.",
      ),
    ];
  },
};
