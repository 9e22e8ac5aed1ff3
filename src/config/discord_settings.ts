import { address, choice, list, names, number, numberChoice, section, snowflake, text, whole } from "./field.ts";

export const ROLE_NAMES = ["talk", "use", "approve", "admin"] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

/** `[discord]`. */
export const discord = section({
  token: text({
    about: "the bot's token",
    env: "TURNSTONE_DISCORD_TOKEN",
    fallback: null,
    shown: "the practice Discord is started",
    secret: true,
  }),
  api: address({ about: "Discord's REST address", env: "TURNSTONE_DISCORD_API", fallback: "https://discord.com/api" }),
  guild: snowflake({ about: "the only guild to serve", env: "TURNSTONE_DISCORD_GUILD", fallback: null, shown: "all" }),
  channels: list(snowflake({ about: "a channel", fallback: null }), {
    about: "the only channels to serve",
    env: "TURNSTONE_DISCORD_CHANNELS",
    shown: "all",
  }),
  edit_interval_ms: whole({
    minimum: 250,
    maximum: 60_000,
    about: "least time between two edits of a message",
    fallback: 1500,
  }),
  // The lengths that Discord takes: an hour, a day, three days, a week.
  thread_auto_archive_minutes: numberChoice([60, 1440, 4320, 10_080], {
    about: "quiet time after which Discord archives a thread",
    fallback: 1440,
  }),
  roles: names(
    choice(ROLE_NAMES, { about: "what the role with this id may do", fallback: "talk" }),
    /^\d{1,20}$/,
    "a role's id, which is made of digits",
  ),
  budgets: section({
    tokens_per_day: whole({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      about: "tokens that a person may use in a day; 0 for no limit",
      fallback: 0,
    }),
    cost_usd_per_day: number({
      minimum: 0,
      maximum: 1_000_000,
      about: "USD that a person may spend in a day; 0 for no limit",
      fallback: 0,
    }),
  }),
});
