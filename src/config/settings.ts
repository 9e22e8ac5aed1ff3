import { discord } from "./discord_settings.ts";
import { address, choice, list, names, section, text, verbatim, whole, yesNo } from "./field.ts";
import type { ValueOf } from "./field.ts";
import { model } from "./model_settings.ts";
import { path } from "./paths.ts";
import { approval, mcp, sandbox, tools } from "./tool_settings.ts";

const PORT = { minimum: 0, maximum: 65_535 };
// HMAC with SHA-256 wants a key as long as its digest (RFC 7518, section 3.2).
const JWT_SECRET_BYTES_MIN = 32;

const server = section({
  data_dir: path({
    about: "where everything is kept; made with mode 0700",
    env: "TURNSTONE_DATA_DIR",
    flag: "data-dir <folder>",
    fallback: "",
    shown: "~/.local/share/turnstone",
  }),
  host: text({ about: "address to listen on", env: "TURNSTONE_HOST", flag: "host <address>", fallback: "127.0.0.1" }),
  port: whole({ ...PORT, about: "port to listen on", env: "TURNSTONE_PORT", flag: "port <number>", fallback: 8080 }),
  public_url: address({
    about: "the address under which browsers reach this server",
    fallback: null,
    shown: "its own, on a loopback address",
  }),
  trusted_proxies: list(
    text({
      about: "a proxy",
      fallback: null,
      allowed: "an address or a range such as 10.0.0.0/8",
      accept: (value) => /^[\da-fA-F:.]+(\/\d{1,3})?$/.test(value),
    }),
    { about: "proxies whose X-Forwarded-For is believed" },
  ),
  allowed_hosts: list(text({ about: "a name", fallback: null }), {
    about: "names by which a server on a loopback address may be called besides localhost",
  }),
});

const database = section({
  url: text({
    about: "a PostgreSQL database",
    env: "TURNSTONE_DB_URL",
    fallback: null,
    shown: "SQLite at <data_dir>/turnstone.db",
    allowed: "an address that begins with postgres://",
    accept: (value) => /^postgres(ql)?:\/\/./.test(value) && URL.canParse(value),
    secret: true,
  }),
});

const auth = section({
  jwt_secret: text({
    about: "what credentials are signed with",
    env: "TURNSTONE_JWT_SECRET",
    fallback: null,
    shown: "made once, in <data_dir>/jwt_secret",
    allowed: `at least ${JWT_SECRET_BYTES_MIN} bytes long`,
    accept: (value) => Buffer.byteLength(value) >= JWT_SECRET_BYTES_MIN,
    secret: true,
  }),
});

const gateway = section({
  server_url: address({
    about: "where the gateway finds the server",
    env: "TURNSTONE_SERVER_URL",
    fallback: "",
    shown: "the server's own address",
  }),
  host: text({ about: "address for notifications", env: "TURNSTONE_CHANNEL_HOST", fallback: "127.0.0.1" }),
  port: whole({ ...PORT, about: "port for notifications", env: "TURNSTONE_CHANNEL_PORT", fallback: 8091 }),
  advertise_url: address({
    about: "where the server finds the gateway",
    env: "TURNSTONE_CHANNEL_ADVERTISE_URL",
    fallback: null,
    shown: "the gateway's own address",
  }),
});

const ratelimit = section({
  enabled: yesNo({ about: "whether requests are limited", env: "TURNSTONE_RATELIMIT", fallback: true }),
  requests_per_second: whole({ minimum: 1, maximum: 100_000, about: "lasting rate of a principal", fallback: 50 }),
  burst: whole({ minimum: 1, maximum: 1_000_000, about: "requests at once", fallback: 200 }),
});

const log = section({
  level: choice(["debug", "info", "warn", "error"], {
    about: "the least that is written",
    env: "TURNSTONE_LOG_LEVEL",
    flag: "log-level <level>",
    fallback: "info",
  }),
  format: choice(["text", "json"], {
    about: "for people or for machines",
    env: "TURNSTONE_LOG_FORMAT",
    flag: "log-format <format>",
    fallback: null,
    shown: "text on a terminal, else json",
  }),
});

const session = section({
  retention_days: whole({
    minimum: 0,
    maximum: 36_500,
    about: "days after which an untouched conversation without an alias is deleted; 0 for never",
    fallback: 0,
  }),
  instructions: verbatim({ about: "added to the system prompt of every workstream", fallback: "" }),
});

const MODEL_ALIAS = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Every setting there is: what is read, what documents itself, what `--help` offers. */
export const SETTINGS = section({
  server,
  database,
  auth,
  model: section({
    default: text({ about: "alias that a workstream starts with", fallback: null, shown: "`default`, else the first" }),
    fallback: list(text({ about: "an alias", fallback: null }), {
      about: "aliases to try when a model fails, in order",
    }),
    agent_model: text({ about: "alias for sub-agents", fallback: null, shown: "the workstream's" }),
  }),
  models: names(model, MODEL_ALIAS, "letters, digits, dots, underscores and hyphens, at most 64"),
  workspace: section({
    root: path({
      about: "folder that every workstream works in",
      env: "TURNSTONE_WORKSPACE",
      fallback: null,
      shown: "<data_dir>/workspaces/<ws_id>",
    }),
    channels: names(
      path({ about: "folder for the workstreams of this channel", fallback: "" }),
      /^\d{1,20}$/,
      "a channel's id, which is made of digits",
    ),
  }),
  tools,
  sandbox,
  api: section({
    tavily_key: text({ about: "key for web search", env: "TAVILY_API_KEY", fallback: null, secret: true }),
    tavily_url: address({ about: "where Tavily is", env: "TURNSTONE_TAVILY_URL", fallback: "https://api.tavily.com" }),
  }),
  approval,
  ratelimit,
  mcp,
  discord,
  gateway,
  practice: section({
    port: whole({ ...PORT, about: "port of the practice Discord", env: "TURNSTONE_PRACTICE_PORT", fallback: 8092 }),
  }),
  session,
  chat: section({
    token: text({
      about: "API token of the terminal client",
      env: "TURNSTONE_TOKEN",
      fallback: null,
      shown: "one is made where the data directory is",
      secret: true,
    }),
  }),
  notify: section({
    on_done: choice(["off", "dm"], {
      about: "tells a person when a turn of more than five minutes ends",
      fallback: "off",
    }),
  }),
  log,
});

/** What the table reads to, before anything is worked out. */
export type SettingsTable = ValueOf<typeof SETTINGS>;
