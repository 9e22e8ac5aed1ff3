import { Worker } from "node:worker_threads";

/** An ordinary page takes a tenth of a second, 10 MB of tags ten; more is a page made to take long. */
const READING_MS = 20_000;

/** Room for the tree and the texts of the largest page; one that wants more ends its thread, not the server. */
const HEAP_MB_MAX = 512;

export interface PageTask {
  bytes: Uint8Array<ArrayBuffer>;
  media_type: string;
  /** From the header. */
  charset: string | null;
  /** Links are made whole against it. */
  url: string;
  /** Decides what a page that is too long keeps. */
  question: string;
  /** Characters that the text may have. */
  budget: number;
}

/** `characters` is how many the whole text has. */
export type ReadPage =
  | { ok: true; title: string; description: string; text: string; characters: number }
  | { ok: false; error: string };

/**
 * Makes readable text of a page, in a thread of its own with limits on time and memory. The bytes are handed over: the
 * caller's array is empty afterwards. Rejects with the signal's reason when it is aborted.
 */
export async function readPage(task: PageTask, signal: AbortSignal, limit_ms = READING_MS): Promise<ReadPage> {
  signal.throwIfAborted();
  const reader = takeReader();
  let well = false;
  try {
    const page = await answerOf(reader, task, signal, AbortSignal.timeout(limit_ms));
    well = page.ok;
    return page;
  } finally {
    // By name: without names the thread's own would go too, and it would fall silent.
    for (const event of ["message", "error", "exit"]) reader.removeAllListeners(event);
    if (well) keepReader(reader);
    else await reader.terminate();
  }
}

function answerOf(reader: Worker, task: PageTask, signal: AbortSignal, limit: AbortSignal): Promise<ReadPage> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => reject(signal.reason as Error);
    const settle = (answer: ReadPage): void => {
      signal.removeEventListener("abort", cancel);
      resolve(answer);
    };
    signal.addEventListener("abort", cancel, { once: true });
    limit.addEventListener("abort", () => {
      settle({ ok: false, error: "The page is built in a way that takes too long to read, so it was given up." });
    });
    reader.once("message", settle);
    reader.once("error", (error: Error & { code?: string }) => {
      const why = error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "it needs too much memory" : error.message.slice(0, 200);
      settle({ ok: false, error: `The page could not be read: ${why}.` });
    });
    reader.once("exit", () => settle({ ok: false, error: "The page could not be read: its reader ended early." }));
    reader.postMessage(task, [task.bytes.buffer]);
  });
}

/** Starting a thread takes longer than reading most pages, so one that is done waits a while for the next page. */
const IDLE_MS = 30_000;

let waiting: { reader: Worker; timer: NodeJS.Timeout } | null = null;

function takeReader(): Worker {
  const kept = waiting;
  if (kept !== null) {
    dropWaiting();
    kept.reader.ref();
    return kept.reader;
  }
  return new Worker(workerFile(), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    // A thread inherits flags such as --inspect, which only the server itself can have.
    execArgv: [],
  });
}

function keepReader(reader: Worker): void {
  if (waiting !== null) {
    void reader.terminate();
    return;
  }
  const timer = setTimeout(() => {
    dropWaiting();
    void reader.terminate();
  }, IDLE_MS);
  reader.once("error", dropWaiting).once("exit", dropWaiting);
  // Neither keeps a server from ending.
  reader.unref();
  timer.unref();
  waiting = { reader, timer };
}

function dropWaiting(): void {
  if (waiting === null) return;
  clearTimeout(waiting.timer);
  waiting.reader.off("error", dropWaiting).off("exit", dropWaiting);
  waiting = null;
}

/** The worker lies beside this file, as source or as compiled. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./page_worker.ts" : "./page_worker.js", import.meta.url);
}
