import { Events } from "discord.js";
import type { Clock } from "../../src/lib/clock.ts";
import type { Log } from "../../src/lib/log.ts";
import type { ChannelAdapter, ChannelHandlers } from "../channel_adapter.ts";
import type { GatewaySettings } from "../config.ts";
import { createDiscordAdapter } from "./adapter.ts";
import { closeWords, connect } from "./client.ts";

/** Discord, connected. Nothing is heard before `start`. */
export type DiscordConnection =
  | {
      ok: true;
      adapter: ChannelAdapter;
      start: (handlers: ChannelHandlers) => void;
      /** Whether messages that do not mention us can be read. */
      sees_content: boolean;
      /** Resolves with a sentence when Discord has closed the connection for good. */
      ended: Promise<string>;
    }
  | { ok: false; error: string };

export async function connectDiscord(
  settings: GatewaySettings["discord"],
  { clock, log }: { clock: Clock; log: Log },
): Promise<DiscordConnection> {
  const connection = await connect(settings, log);
  if (!connection.ok) return connection;
  const { client, sees_content } = connection;
  const ended = new Promise<string>((resolve) => {
    client.on(Events.ShardDisconnect, ({ code }) => resolve(closeWords(code)));
  });
  return { ok: true, ...createDiscordAdapter({ client, settings, clock, log, sees_content }), sees_content, ended };
}
