import { createParser, type EventSourceMessage } from "eventsource-parser";
import { onTestFinished } from "vitest";

/** For tests: one frame as a client sees it. */
export interface Received {
  id: string | undefined;
  data: Record<string, unknown>;
}

export interface SseReader {
  status: number;
  headers: Headers;
  frames: Received[];
  /** Waits until a frame passes the check, and answers all up to it. */
  until(check: (frame: Received) => boolean): Promise<Received[]>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

/** For tests: reads a stream over a real socket. */
export async function readSse(url: string, headers: Record<string, string>): Promise<SseReader> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const response = await fetch(url, { headers, signal: controller.signal });
  const frames: Received[] = [];
  let wake = (): void => {};
  const parser = createParser({
    onEvent(event: EventSourceMessage) {
      frames.push({ id: event.id, data: JSON.parse(event.data) as Record<string, unknown> });
      wake();
    },
  });
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
    } catch {
      // The test has ended the connection, or the server has cut it.
    }
    wake();
  };
  return {
    status: response.status,
    headers: response.headers,
    frames,
    ended: read(),
    close: () => controller.abort(),
    async until(check) {
      for (;;) {
        const index = frames.findIndex(check);
        if (index >= 0) return frames.slice(0, index + 1);
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/** For tests: the types of frames, with ids where there are some. */
export function outline(frames: readonly Received[]): string[] {
  return frames.map(({ id, data }) => `${id === undefined ? "" : `${id}:`}${String(data["type"] ?? data["control"])}`);
}
