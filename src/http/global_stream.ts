import type { Engine, GlobalFrame } from "../contracts/engine.ts";
import type { SseConnection } from "./sse_hub.ts";

/** Answers that are remembered for one reader. Forgotten all at once when there are more. */
const REMEMBERED_MAX = 10_000;

/** For how long a no is believed: the reader may be invited meanwhile. */
const HIDDEN_MS = 5000;

type Visibility = { kind: "visible" } | { kind: "hidden"; at: number } | { kind: "asking"; waiting: GlobalFrame[] };

/** Streams what happens to all workstreams that `maySee` lets this reader see, in order for each of them. */
export function streamGlobal(
  engine: Engine,
  connection: SseConnection,
  maySee: (ws_id: string) => Promise<boolean>,
  report: (error: unknown) => void,
): void {
  let known = new Map<string, Visibility>();

  const ask = async (frame: GlobalFrame): Promise<void> => {
    const asking: Visibility = { kind: "asking", waiting: [frame] };
    if (known.size >= REMEMBERED_MAX) known = new Map();
    known.set(frame.ws_id, asking);
    const visible = await maySee(frame.ws_id);
    known.set(frame.ws_id, visible ? { kind: "visible" } : { kind: "hidden", at: Date.now() });
    if (visible) for (const waiting of asking.waiting) connection.write(waiting.bytes());
  };

  const fail = (error: unknown): void => {
    report(error);
    connection.close();
  };

  const unsubscribe = engine.bus.subscribeGlobal((frame) => {
    const visibility = known.get(frame.ws_id);
    if (visibility?.kind === "visible") connection.write(frame.bytes());
    else if (visibility?.kind === "asking") visibility.waiting.push(frame);
    else if (visibility === undefined || Date.now() - visibility.at > HIDDEN_MS) ask(frame).catch(fail);
  });
  connection.onClose(unsubscribe);
}
