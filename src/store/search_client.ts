import { Worker } from "node:worker_threads";
import type { ConversationHit, MemoryReach, MemoryRow } from "../contracts/store.ts";
import { StoreError } from "./errors.ts";

/** Milliseconds after which a search is given up. A common word among a million rows takes about one second. */
const SEARCH_TIMEOUT_MS = 15_000;

export interface MemoryQuery {
  reach: MemoryReach;
  query: string;
  limit: number;
}

export interface ConversationQuery {
  user_id: string;
  except_ws_id: string | null;
  query: string;
  limit: number;
}

export interface ConversationAnswer {
  hits: ConversationHit[];
  total: number;
}

/** What the worker is asked, and what it answers; `id` pairs them. */
export type SearchRequest =
  | { id: number; kind: "memories"; query: MemoryQuery }
  | { id: number; kind: "conversations"; query: ConversationQuery };
export type SearchReply =
  | { id: number; kind: "memories"; memories: MemoryRow[] }
  | { id: number; kind: "conversations"; answer: ConversationAnswer }
  | { id: number; kind: "failed"; error: string };

/** Searches beside the event loop, in a worker thread with a connection of its own that only reads. */
export interface SearchClient {
  memories(query: MemoryQuery): Promise<MemoryRow[]>;
  conversations(query: ConversationQuery): Promise<ConversationAnswer>;
  close(): Promise<void>;
}

interface Waiting {
  resolve: (reply: SearchReply) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** The worker starts with the first search and does not keep the process alive while nobody waits for it. */
export function createSearchClient(path: string): SearchClient {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let last_id = 0;
  let closed = false;

  const failAll = (error: Error): void => {
    for (const request of waiting.values()) {
      clearTimeout(request.timer);
      request.reject(error);
    }
    waiting.clear();
  };

  /** A worker that hangs or fell over is left behind; the next search starts another. */
  const abandon = async (failed: Worker, error: Error): Promise<void> => {
    if (worker !== failed) return;
    worker = null;
    failAll(error);
    await failed.terminate();
  };

  const start = (): Worker => {
    const started = new Worker(workerFile(), { workerData: { path } });
    started.on("message", (reply: SearchReply) => {
      const request = waiting.get(reply.id);
      if (request === undefined) return;
      waiting.delete(reply.id);
      clearTimeout(request.timer);
      if (waiting.size === 0) started.unref();
      request.resolve(reply);
    });
    started.on(
      "error",
      (cause) => void abandon(started, new StoreError("The search fell over; try again.", { cause })),
    );
    return started;
  };

  const ask = (request: SearchRequest): Promise<SearchReply> => {
    if (closed) return Promise.reject(new StoreError("The store is closed; nothing can be searched."));
    const running = (worker ??= start());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        void abandon(running, new StoreError("The search took too long; ask for rarer words."));
      }, SEARCH_TIMEOUT_MS);
      waiting.set(request.id, { resolve, reject, timer });
      running.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      running.postMessage(request);
    });
  };

  return {
    async memories(query) {
      const reply = await ask({ id: ++last_id, kind: "memories", query });
      if (reply.kind === "memories") return reply.memories;
      throw failure(reply);
    },
    async conversations(query) {
      const reply = await ask({ id: ++last_id, kind: "conversations", query });
      if (reply.kind === "conversations") return reply.answer;
      throw failure(reply);
    },
    async close() {
      closed = true;
      if (worker !== null) await abandon(worker, new StoreError("The store was closed during the search."));
    },
  };
}

/** The worker lies beside this file, as source or as compiled. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./search_worker.ts" : "./search_worker.js", import.meta.url);
}

function failure(reply: SearchReply): Error {
  return reply.kind === "failed"
    ? new StoreError(`The search failed: ${reply.error}`)
    : new Error("The search answered something else.");
}
