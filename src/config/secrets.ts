import type { Config } from "./load.ts";

// Shorter values are ordinary words and numbers: taking them out of every text would garble it.
const SECRET_LENGTH_MIN = 8;

const SECRET_NAME =
  /key|token|secret|passw(?:or)?d|passphrase|pwd|credential|authorization|cookie|signature|(?:^|[_-])pat$/i;

/** Names in our own environment: stricter, since nobody chose those for us, and `SSH_AUTH_SOCK` is no secret. */
const SECRET_VARIABLE = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIALS?|PAT)$/i;

/** A value of letters alone is more likely a word than a secret, unless its name was given to us as one. */
const WORD = /^[A-Za-z]+$/;

/**
 * Every text in the settings, and in the environment, that must never leave: for the redactor. `jwt_secret` is the
 * one in use, wherever it came from.
 */
export function secretValues(
  config: Config,
  jwt_secret: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string[] {
  const models = Object.values(config.models);
  const servers = Object.values(config.mcp.servers);
  const addresses = [
    config.api.tavily_url,
    config.discord.api,
    config.gateway.server_url,
    config.gateway.advertise_url,
  ];
  const values = [
    jwt_secret,
    config.auth.jwt_secret,
    config.api.tavily_key,
    config.discord.token,
    config.chat.token,
    ...[config.database.url, ...addresses, ...models.map((model) => model.base_url)].flatMap(secretsOfAddress),
    ...models.map((model) => model.api_key),
    ...servers.flatMap((server) => [
      ...namedSecrets(server.env),
      ...namedSecrets(server.headers).flatMap((value) => [value, value.replace(/^\S+\s+/, "")]),
      ...secretsOfAddress(server.url),
      server.oauth_client_secret,
      ...secretArguments(server.args),
    ]),
    ...Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && SECRET_VARIABLE.test(name) && !WORD.test(value) ? [value] : [],
    ),
  ];
  return [...new Set(values.filter((value) => value !== null).filter((value) => value.length >= SECRET_LENGTH_MIN))];
}

function namedSecrets(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    // An address may hold a password whatever its variable is called.
    return SECRET_NAME.test(name) ? [value] : secretsOfAddress(value);
  });
}

/** The password of an address, as it stands there and decoded, and what its query calls secret. */
function secretsOfAddress(address: string | null): string[] {
  if (address === null || !address.includes("://") || !URL.canParse(address)) return [];
  const { password, searchParams } = new URL(address);
  const named = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  return [password, decoded(password), ...named];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Of a program's arguments: `--api-key=value`, `--api-key value`, `NAME_KEY=value`, and addresses with a password. */
function secretArguments(args: readonly string[]): string[] {
  return args.flatMap((argument, index) => {
    const [name = "", ...rest] = argument.split("=");
    if (rest.length > 0 && SECRET_NAME.test(name)) return [rest.join("=")];
    const before = args[index - 1] ?? "";
    if (before.startsWith("-") && !before.includes("=") && SECRET_NAME.test(before)) return [argument];
    return secretsOfAddress(argument);
  });
}
