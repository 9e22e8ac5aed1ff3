import type { Config } from "./load.ts";

// Shorter values are ordinary words and numbers: taking them out of every text would garble it.
const SECRET_LENGTH_MIN = 8;

const SECRET_NAME = /key|token|secret|password|passwd|credential|authorization|cookie/i;

/** Every text in the settings that must never leave: for the redactor. `jwt_secret` is the one in use, wherever it came from. */
export function secretValues(config: Config, jwt_secret: string): string[] {
  const values = [
    jwt_secret,
    config.auth.jwt_secret,
    config.api.tavily_key,
    config.discord.token,
    config.chat.token,
    databasePassword(config.database.url),
    ...Object.values(config.models).map((model) => model.api_key),
    ...Object.values(config.mcp.servers).flatMap((server) => [
      ...namedSecrets(server.env),
      ...namedSecrets(server.headers).flatMap((value) => [value, value.replace(/^\S+\s+/, "")]),
    ]),
  ];
  return [...new Set(values.filter((value) => value !== null).filter((value) => value.length >= SECRET_LENGTH_MIN))];
}

function namedSecrets(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
}

function databasePassword(url: string | null): string | null {
  return url === null ? null : decodeURIComponent(new URL(url).password);
}
