import { once } from "node:events";
import type { Command } from "commander";
import { gatewayEnvironment, practiceEnvironment, serverEnvironment } from "../../config/child_environment.ts";
import { prepareDataDirectory } from "../../config/data_directory.ts";
import type { Config } from "../../config/load.ts";
import { localAddress } from "../../config/load.ts";
import type { Flags } from "../flags.ts";
import { flagArguments, givenFlags, loadOrFail } from "../flags.ts";
import { openConfiguredStore } from "../store_access.ts";
import type { Running } from "../supervisor/keep_running.ts";
import { keepRunning } from "../supervisor/keep_running.ts";
import { freePort, portProblem } from "../supervisor/port.ts";
import { linkPracticePeople } from "../supervisor/practice_people.ts";
import { programArguments } from "../supervisor/programs.ts";
import { abortOnStopSignal } from "../supervisor/stop_signals.ts";
import { terminal } from "../terminal.ts";

/** `turnstone start`: everything that is needed, each part a process of its own. */
export function addStartCommand(program: Command): void {
  program
    .command("start")
    .description("run the server and the gateway, with a practice Discord where no token is set")
    .action(async () => {
      const flags = givenFlags(program);
      const config = loadOrFail(flags, terminal);
      if (config !== null) await start(config, flags);
    });
}

/** A part of a start: what it needs from the settings, and the signal that ends all parts. */
interface Starting {
  config: Config;
  flags: Flags;
  jwt_secret: string;
  stop: AbortSignal;
}

async function start(given: Config, flags: Flags): Promise<void> {
  const prepared = prepareDataDirectory(given);
  if (!prepared.ok) return terminal.fail(prepared.error);
  const config = await withPorts(given);
  const problem = await firstPortProblem(config);
  if (problem !== null) return terminal.fail(problem);

  // Aborted by a signal, or by a part that cannot start: either way everything that runs is to end.
  const failed = new AbortController();
  const asked = abortOnStopSignal();
  const stop = AbortSignal.any([asked, failed.signal]);
  const starting: Starting = { config, flags, jwt_secret: prepared.jwt_secret, stop };
  const parts: Running[] = [];
  const complete = await startParts(starting, parts);
  if (complete) {
    tellWhere(config);
    if (!stop.aborted) await once(stop, "abort");
  } else {
    failed.abort();
  }
  // Who needs another one ends first, so that none sees the other vanish.
  for (const part of parts.toReversed()) await part.stop();
  if (!complete && !asked.aborted) process.exitCode = 1;
}

/** Starts one part after the other; false when one of them did not start. */
async function startParts(starting: Starting, parts: Running[]): Promise<boolean> {
  const take = (part: Running | null): part is Running => {
    if (part !== null) parts.push(part);
    return part !== null;
  };
  const { config } = starting;
  if (config.discord.token !== null) {
    return take(await startServer(starting)) && take(await startGateway(starting, config));
  }
  const practice = await startPractice(starting);
  if (!take(practice)) return false;
  // Before the server, which tells how to make an account where there is none.
  await linkPeople(config, practice);
  return take(await startServer(starting)) && take(await startGateway(starting, practiceConfig(config, practice)));
}

function startServer({ config, flags, stop }: Starting): Promise<Running | null> {
  const args = [...programArguments("server"), ...flagArguments({ ...flags, port: String(config.server.port) })];
  const ready_url = `${localAddress(config.server.host, config.server.port)}/health`;
  return keepRunning({ name: "server", args, env: serverEnvironment(), ready_url }, stop, terminal);
}

function startPractice({ config, stop }: Starting): Promise<Running | null> {
  const member = { name: "practice Discord", args: programArguments("practice"), env: practiceEnvironment(config) };
  // It is of no use before it has said who lives there.
  return keepRunning({ ...member, ready_url: null }, stop, terminal);
}

function startGateway({ jwt_secret, stop }: Starting, config: Config): Promise<Running | null> {
  const env = gatewayEnvironment(config, jwt_secret);
  const ready_url = `${localAddress(config.gateway.host, config.gateway.port)}/health`;
  return keepRunning({ name: "gateway", args: programArguments("gateway"), env, ready_url }, stop, terminal);
}

/** The settings of a gateway that speaks to the practice Discord. */
function practiceConfig(config: Config, practice: Running): Config {
  const api = `${localAddress("127.0.0.1", config.practice.port)}/api`;
  const token = practice.message.bot_token ?? "practice";
  const roles = practiceRoles(practice);
  return { ...config, discord: { ...config.discord, api, token, guild: null, channels: [], roles } };
}

/** What the roles there allow: an admin may approve for others, everybody with an account may use the tools. */
function practiceRoles({ message }: Running): Config["discord"]["roles"] {
  const of_role = (message.roles ?? []).map(({ id, name }) => [id, name === "admin" ? "admin" : "approve"] as const);
  const everyone = message.guild_id === undefined ? [] : [[message.guild_id, "use"] as const];
  return Object.fromEntries([...everyone, ...of_role]);
}

async function linkPeople(config: Config, practice: Running): Promise<void> {
  const store = await openConfiguredStore(config);
  try {
    await linkPracticePeople(store, practice.message.people ?? []);
  } finally {
    await store.close();
  }
}

/** The same settings with a free port wherever 0 stood, since each part must know where the others are. */
async function withPorts(config: Config): Promise<Config> {
  const take = async (host: string, port: number): Promise<number> => (port === 0 ? freePort(host) : port);
  const server = { ...config.server, port: await take(config.server.host, config.server.port) };
  const derived = config.gateway.server_url === localAddress(config.server.host, config.server.port);
  return {
    ...config,
    server,
    gateway: {
      ...config.gateway,
      port: await take(config.gateway.host, config.gateway.port),
      server_url: derived ? localAddress(server.host, server.port) : config.gateway.server_url,
    },
    practice: { port: await take("127.0.0.1", config.practice.port) },
  };
}

async function firstPortProblem(config: Config): Promise<string | null> {
  const { server, gateway, practice, discord } = config;
  return (
    (await portProblem("server", server.host, server.port, "--port or TURNSTONE_PORT")) ??
    (await portProblem("gateway", gateway.host, gateway.port, "TURNSTONE_CHANNEL_PORT")) ??
    (discord.token === null
      ? await portProblem("practice Discord", "127.0.0.1", practice.port, "TURNSTONE_PRACTICE_PORT")
      : null)
  );
}

function tellWhere(config: Config): void {
  terminal.print(`turnstone is ready: ${localAddress(config.server.host, config.server.port)} (API, docs at /docs)`);
  if (config.discord.token === null) {
    terminal.print(
      `Practice Discord: http://127.0.0.1:${config.practice.port} (open it in a browser and mention @turnstone)`,
    );
  } else {
    terminal.print("The bot is on Discord: mention it in a channel that it may read.");
  }
  terminal.print("Ctrl+C stops everything.");
}
