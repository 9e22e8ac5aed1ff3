import { timestamp } from "../../lib/clock.ts";
import { record } from "./audit.ts";
import type { AdminCommand } from "./command.ts";
import { findUser, textOf } from "./command.ts";

const CHANNEL_TYPES = ["discord"];

export const link: AdminCommand = {
  usage: "link",
  about: "let a person of a chat platform act with an account",
  required: [
    ["--user <name>", "the account"],
    ["--channel <type>", "the platform: discord"],
    ["--id <id>", "the person's id there"],
  ],
  async run({ store, clock }, options) {
    const found = await findUser(store, textOf(options, "user"));
    if (!found.ok) return found;
    const place = readPlace(textOf(options, "channel"), textOf(options, "id"));
    if (!place.ok) return place;
    const { channel_type, channel_user_id } = place;
    const { user_id, username, scopes } = found.user;
    if (!(await store.channels.link({ channel_type, channel_user_id, user_id, scopes, created: timestamp(clock) }))) {
      return { ok: false, error: `The ${channel_type} user ${channel_user_id} is linked already; unlink it first.` };
    }
    await record({ store, clock }, "link.created", `${channel_type}:${channel_user_id}`, { user_id });
    return {
      ok: true,
      data: { user_id, username, channel_type, channel_user_id, scopes },
      lines: [`Linked the ${channel_type} user ${channel_user_id} to ${username}.`],
    };
  },
};

export const unlink: AdminCommand = {
  usage: "unlink",
  about: "take such a link away",
  required: [
    ["--channel <type>", "the platform: discord"],
    ["--id <id>", "the person's id there"],
  ],
  async run({ store, clock }, options) {
    const place = readPlace(textOf(options, "channel"), textOf(options, "id"));
    if (!place.ok) return place;
    const { channel_type, channel_user_id } = place;
    if (!(await store.channels.unlink(channel_type, channel_user_id))) {
      return { ok: false, error: `The ${channel_type} user ${channel_user_id} is not linked to anybody.` };
    }
    await record({ store, clock }, "link.removed", `${channel_type}:${channel_user_id}`);
    const lines = [`Unlinked the ${channel_type} user ${channel_user_id}.`];
    return { ok: true, data: { channel_type, channel_user_id, unlinked: true }, lines };
  },
};

type Place = { ok: true; channel_type: string; channel_user_id: string } | { ok: false; error: string };

function readPlace(channel: string | null, id: string | null): Place {
  const channel_type = channel ?? "";
  if (!CHANNEL_TYPES.includes(channel_type)) {
    return { ok: false, error: `"${channel_type}" is not a chat platform; allowed is ${CHANNEL_TYPES.join(", ")}.` };
  }
  const channel_user_id = id ?? "";
  if (/^\d{1,20}$/.test(channel_user_id)) return { ok: true, channel_type, channel_user_id };
  return { ok: false, error: `"${channel_user_id}" is not the id of a ${channel_type} user, which is made of digits.` };
}
