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
  const worker = new Worker(workerFile(), {
    workerData: task,
    transferList: [task.bytes.buffer],
    // The page's text can be larger than what a thread gets by default, and a hostile one must not take all there is.
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    // A thread inherits flags such as --inspect, which only the server itself can have.
    execArgv: [],
    stdin: false,
  });
  try {
    return await answerOf(worker, signal, AbortSignal.timeout(limit_ms));
  } finally {
    await worker.terminate();
  }
}

function answerOf(worker: Worker, signal: AbortSignal, limit: AbortSignal): Promise<ReadPage> {
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
    worker.once("message", (answer: ReadPage) => settle(answer));
    worker.once("error", (error: Error & { code?: string }) => {
      const why = error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "it needs too much memory" : error.message.slice(0, 200);
      settle({ ok: false, error: `The page could not be read: ${why}.` });
    });
    worker.once("exit", () => settle({ ok: false, error: "The page could not be read: its reader ended early." }));
  });
}

/** The worker lies beside this file, as source or as compiled. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./page_worker.ts" : "./page_worker.js", import.meta.url);
}
