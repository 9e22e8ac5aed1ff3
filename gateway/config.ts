import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { LOG_LEVELS, type LogLevel } from "../src/lib/log.ts";

/** What a Discord role lets its holders do, on top of what their account may: the smaller of both counts. */
export const ROLE_NAMES = ["talk", "use", "approve", "admin"] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

/** Everything that decides how a gateway runs. Read once, at the start. */
export interface GatewaySettings {
  server_url: string;
  /** Null: service tokens cannot be made and every notification is refused. */
  jwt_secret: string | null;
  discord: {
    token: string;
    /** Without version and trailing slash. */
    api: string;
    /** The only guild that is served; null for all. */
    guild: string | null;
    /** The only channels that are served; empty for all. */
    channels: readonly string[];
    roles: Readonly<Record<string, RoleName>>;
    edit_interval_ms: number;
    thread_auto_archive_minutes: number;
  };
  channel: {
    host: string;
    /** 0 takes any free port. */
    port: number;
    /** Where the server reaches this gateway; null: worked out from host and port. */
    advertise_url: string | null;
  };
  log: { level: LogLevel; format: "text" | "json" };
}

/** RFC 7518, section 3.2. */
const JWT_SECRET_BYTES_MIN = 32;

/** Reads the settings from environment variables; what is wrong comes back as one sentence. */
export function readSettings(
  env: Readonly<Record<string, string | undefined>>,
): { ok: true; settings: GatewaySettings } | { ok: false; error: string } {
  try {
    return { ok: true, settings: settingsFrom(env) };
  } catch (error) {
    if (error instanceof SettingError) return { ok: false, error: error.message };
    throw error;
  }
}

class SettingError extends Error {}

function settingsFrom(env: Readonly<Record<string, string | undefined>>): GatewaySettings {
  const text = (name: string): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === "" ? null : value;
  };
  const whole = (name: string, fallback: number, minimum: number, maximum: number): number => {
    const value = text(name);
    if (value === null) return fallback;
    const number = Number(value);
    if (Number.isInteger(number) && number >= minimum && number <= maximum) return number;
    throw new SettingError(`${name} is "${value}"; it must be a whole number from ${minimum} to ${maximum}.`);
  };
  const token = text("TURNSTONE_DISCORD_TOKEN");
  if (token === null) {
    throw new SettingError(
      "There is no Discord token. Set TURNSTONE_DISCORD_TOKEN, or run `turnstone start` to try the practice Discord.",
    );
  }
  return {
    server_url: (text("TURNSTONE_SERVER_URL") ?? "http://127.0.0.1:8080").replace(/\/+$/, ""),
    jwt_secret: jwtSecret(text("TURNSTONE_JWT_SECRET"), text("TURNSTONE_DATA_DIR")),
    discord: {
      token,
      api: (text("TURNSTONE_DISCORD_API") ?? "https://discord.com/api").replace(/\/+$/, ""),
      guild: text("TURNSTONE_DISCORD_GUILD"),
      channels: (text("TURNSTONE_DISCORD_CHANNELS") ?? "")
        .split(",")
        .map((id) => id.trim())
        .filter((id) => id !== ""),
      roles: rolesFrom(text("TURNSTONE_DISCORD_ROLES")),
      edit_interval_ms: whole("TURNSTONE_DISCORD_EDIT_INTERVAL_MS", 1500, 1, 60_000),
      thread_auto_archive_minutes: whole("TURNSTONE_DISCORD_THREAD_AUTO_ARCHIVE_MINUTES", 1440, 60, 10_080),
    },
    channel: {
      host: text("TURNSTONE_CHANNEL_HOST") ?? "127.0.0.1",
      port: whole("TURNSTONE_CHANNEL_PORT", 8091, 0, 65_535),
      advertise_url: text("TURNSTONE_CHANNEL_ADVERTISE_URL"),
    },
    log: { level: logLevel(text("TURNSTONE_LOG_LEVEL")), format: logFormat(text("TURNSTONE_LOG_FORMAT")) },
  };
}

function jwtSecret(given: string | null, data_dir: string | null): string | null {
  const secret = given ?? secretFile(data_dir ?? join(homedir(), ".local", "share", "turnstone"));
  if (secret !== null && Buffer.byteLength(secret) < JWT_SECRET_BYTES_MIN) {
    throw new SettingError(
      `The JWT secret is shorter than ${JWT_SECRET_BYTES_MIN} bytes. Set TURNSTONE_JWT_SECRET to the server's own.`,
    );
  }
  return secret;
}

function secretFile(data_dir: string): string | null {
  try {
    return readFileSync(join(data_dir, "jwt_secret"), "utf8").trim();
  } catch {
    return null;
  }
}

function rolesFrom(text: string | null): Record<string, RoleName> {
  if (text === null) return {};
  const refuse = (): never => {
    throw new SettingError(`TURNSTONE_DISCORD_ROLES must be a JSON object of role ids and ${ROLE_NAMES.join(", ")}.`);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refuse();
  const roles: Record<string, RoleName> = {};
  for (const [id, name] of Object.entries(value)) roles[id] = ROLE_NAMES.find((role) => role === name) ?? refuse();
  return roles;
}

function logLevel(text: string | null): LogLevel {
  if (text === null) return "info";
  const level = LOG_LEVELS.find((each) => each === text.toLowerCase());
  if (level === undefined) {
    throw new SettingError(`TURNSTONE_LOG_LEVEL is "${text}"; it must be one of ${LOG_LEVELS.join(", ")}.`);
  }
  return level;
}

function logFormat(text: string | null): "text" | "json" {
  if (text === "text" || text === "json") return text;
  if (text === null || text === "auto") return process.stdout.isTTY ? "text" : "json";
  throw new SettingError(`TURNSTONE_LOG_FORMAT is "${text}"; it must be text or json.`);
}
