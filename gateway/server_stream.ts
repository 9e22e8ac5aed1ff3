import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Clock } from "../src/lib/clock.ts";
import type { Log } from "../src/lib/log.ts";
import type { ChannelControlFrame, ChannelFrame } from "../src/protocol/channel.ts";
import type { ServerClient } from "./server_client.ts";

const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 15_000;
/** The server sends at least a comment every five seconds; after this much silence the connection is taken for dead. */
const SILENCE_MS_MAX = 20_000;

export interface StreamDependencies {
  server: ServerClient;
  clock: Clock;
  log: Log;
  /** Frames in the order they came. Must not block. */
  onFrame(frame: ChannelFrame): void;
  /** Connected afresh: what is not yet acknowledged comes again. */
  onConnected(): void;
}

/** Follows the server's channel stream, through restarts and outages, until the signal ends it. */
export async function followChannelStream(dependencies: StreamDependencies, signal: AbortSignal): Promise<void> {
  const { clock, log } = dependencies;
  let delay = BACKOFF_MS_MIN;
  while (!signal.aborted) {
    try {
      await readOnce(dependencies, signal, () => (delay = BACKOFF_MS_MIN));
      log.info("stream.ended");
    } catch (error) {
      if (signal.aborted) return;
      log.warn("stream.failed", {
        error: error instanceof Error ? error : new Error(String(error)),
        retry_in_ms: delay,
      });
    }
    await clock.sleep(delay, signal).catch(() => {});
    delay = Math.min(delay * 2, BACKOFF_MS_MAX);
  }
}

async function readOnce(dependencies: StreamDependencies, signal: AbortSignal, connected: () => void): Promise<void> {
  const silence = new AbortController();
  const response = await dependencies.server.openChannelStream(AbortSignal.any([signal, silence.signal]));
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`The server answered ${response.status} to the channel stream.`);
  }
  let timer: NodeJS.Timeout | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(new Error("The channel stream fell silent.")), SILENCE_MS_MAX);
  };
  const watched = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        heard();
        controller.enqueue(chunk);
      },
    }),
  );
  try {
    heard();
    const events = watched.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const event of events) {
      const frame = JSON.parse(event.data) as ChannelFrame | ChannelControlFrame;
      if (!("control" in frame)) dependencies.onFrame(frame);
      else if (frame.control === "hello") {
        connected();
        dependencies.onConnected();
      }
    }
  } finally {
    clearTimeout(timer);
  }
}
