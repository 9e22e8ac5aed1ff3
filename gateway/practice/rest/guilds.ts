import type { JsonObject } from "../../../src/protocol/json.ts";
import { failure } from "../failure.ts";
import { channelPayload, guildPayload, memberPayload, rolePayload, userPayload } from "../payloads.ts";
import { canView } from "../permissions.ts";
import { activeThreads } from "../threads.ts";
import { guildOf, userOf } from "../world.ts";
import { threadList } from "./channels.ts";
import { ok, param, route } from "./route.ts";
import type { Call, Reply, Route } from "./route.ts";

/** Guilds, members, people and the application itself. */
export const guildRoutes: readonly Route[] = [
  route("GET", "/users/:user_id", user),
  route("GET", "/users/:user_id/guilds", (call) =>
    ok([...call.world.guilds.values()].map((guild) => ({ id: guild.id, name: guild.name, icon: null, owner: false }))),
  ),
  route("GET", "/applications/:application_id", (call) => ok(application(call))),
  route("GET", "/oauth2/applications/:application_id", (call) => ok(application(call))),
  route("GET", "/guilds/:guild_id", (call) => ok(guildPayload(guildOf(call.world, param(call, "guild_id"))))),
  route("GET", "/guilds/:guild_id/channels", channels),
  route("GET", "/guilds/:guild_id/roles", (call) => {
    const guild = guildOf(call.world, param(call, "guild_id"));
    return ok([...guild.roles.values()].map((role) => rolePayload(guild, role)));
  }),
  route("GET", "/guilds/:guild_id/members/:user_id", member),
  route("GET", "/guilds/:guild_id/threads/active", (call) => {
    const guild = guildOf(call.world, param(call, "guild_id"));
    const threads = activeThreads(call.world, guild.id).filter((one) => canView(call.world, one, call.world.bot_id));
    const { has_more: _unused, ...list } = threadList(call.world, threads);
    return ok(list);
  }),
];

function user(call: Call): Reply {
  const id = param(call, "user_id");
  const found = userOf(call.world, id === "@me" ? call.world.bot_id : id);
  const own =
    found.id === call.world.bot_id ? { mfa_enabled: false, locale: "en-US", verified: true, email: null } : {};
  return ok({ ...userPayload(found), ...own });
}

function application(call: Call): JsonObject {
  const bot = userOf(call.world, call.world.bot_id);
  return {
    id: bot.id,
    name: bot.username,
    icon: null,
    description: "",
    type: null,
    bot: userPayload(bot),
    bot_public: false,
    bot_require_code_grant: false,
    verify_key: "0".repeat(64),
    // GATEWAY_MESSAGE_CONTENT_LIMITED, as an unverified bot with the switch on has it.
    flags: 1 << 19,
    flags_new: String(1 << 19),
    redirect_uris: [],
    interactions_endpoint_url: null,
    role_connections_verification_url: null,
    owner: userPayload(ownerOf(call)),
    approximate_guild_count: call.world.guilds.size,
    approximate_user_install_count: 0,
    approximate_user_authorization_count: 0,
    explicit_content_filter: 0,
    team: null,
    eligible_oauth2_scopes: [],
  };
}

function ownerOf(call: Call): ReturnType<typeof userOf> {
  const guild = [...call.world.guilds.values()][0];
  return userOf(call.world, guild?.owner_id ?? call.world.bot_id);
}

function channels(call: Call): Reply {
  const guild = guildOf(call.world, param(call, "guild_id"));
  const all = [...call.world.channels.values()].filter((one) => one.guild_id === guild.id && one.thread === null);
  return ok(all.map((channel) => channelPayload(call.world, channel)));
}

function member(call: Call): Reply {
  const guild = guildOf(call.world, param(call, "guild_id"));
  const id = param(call, "user_id");
  const payload = memberPayload(call.world, guild, id === "@me" ? call.world.bot_id : id, true);
  if (payload === null) throw failure("unknown_member");
  return ok(payload);
}
