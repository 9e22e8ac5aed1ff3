import { scrubEnvironment } from "../lib/environment.ts";
import type { Config } from "./load.ts";

/** What belongs to the server alone: a gateway needs neither a model's key nor the database. */
const SERVER_ONLY =
  /^(TURNSTONE_(API_KEY|DB_URL|BASE_URL|MODEL|PROVIDER|TAVILY_URL)|OPENAI_API_KEY|ANTHROPIC_API_KEY|TAVILY_API_KEY)$/;

/** The environment of a gateway: this process's own, with the gateway's settings worked out. */
export function gatewayEnvironment(config: Config, jwt_secret: string): Record<string, string> {
  const { discord, gateway } = config;
  return {
    ...inherited(),
    TURNSTONE_SERVER_URL: gateway.server_url,
    TURNSTONE_JWT_SECRET: jwt_secret,
    TURNSTONE_CHANNEL_HOST: gateway.host,
    TURNSTONE_CHANNEL_PORT: String(gateway.port),
    TURNSTONE_CHANNEL_ADVERTISE_URL: gateway.advertise_url ?? "",
    TURNSTONE_DISCORD_TOKEN: discord.token ?? "",
    TURNSTONE_DISCORD_API: discord.api,
    TURNSTONE_DISCORD_GUILD: discord.guild ?? "",
    TURNSTONE_DISCORD_CHANNELS: discord.channels.join(","),
    TURNSTONE_DISCORD_EDIT_INTERVAL_MS: String(discord.edit_interval_ms),
    TURNSTONE_DISCORD_THREAD_AUTO_ARCHIVE_MINUTES: String(discord.thread_auto_archive_minutes),
    TURNSTONE_DISCORD_ROLES: JSON.stringify(discord.roles),
    TURNSTONE_PRACTICE_PORT: String(config.practice.port),
    ...logEnvironment(config),
  };
}

/** The environment of the practice Discord. */
export function practiceEnvironment(config: Config): Record<string, string> {
  return { ...inherited(), TURNSTONE_PRACTICE_PORT: String(config.practice.port), ...logEnvironment(config) };
}

/** The environment of a server that is a process of its own: this process's own, since it reads the settings itself. */
export function serverEnvironment(): Record<string, string> {
  return definedEnvironment();
}

function logEnvironment(config: Config): Record<string, string> {
  return { TURNSTONE_LOG_LEVEL: config.log.level, TURNSTONE_LOG_FORMAT: config.log.format ?? "" };
}

function inherited(): Record<string, string> {
  return Object.fromEntries(Object.entries(definedEnvironment()).filter(([name]) => !SERVER_ONLY.test(name)));
}

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Where programs are looked for. */
export function searchPath(): string {
  return process.env["PATH"] ?? "";
}

/** What commands and tools of the agent get: this process's own environment without anything secret. */
export function commandEnvironment(config: Config): Record<string, string> {
  return scrubEnvironment(process.env, config.tools.environment_allow);
}
