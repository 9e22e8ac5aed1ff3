import Database from "better-sqlite3";
import { parentPort, workerData } from "node:worker_threads";
import { describeError } from "../lib/log.ts";
import type { SearchReply, SearchRequest } from "./search_client.ts";
import { searchConversations } from "./search_conversations.ts";
import { searchMemories } from "./search_memories.ts";
import { TOKENIZER } from "./search_query.ts";
import { createScopeSizes, type ScopeSizes } from "./search_scope.ts";
import { createSql, type Sql } from "./sql.ts";

/** The thread that searches: one request after the other, on a connection that cannot write. */
function serve(port: NonNullable<typeof parentPort>): void {
  const { path } = workerData as { path: string };
  const sql = createSql(new Database(path, { readonly: true }));
  const scratch = createSql(new Database(":memory:"));
  scratch.connection.exec(`create virtual table texts using fts5 (content, tokenize = '${TOKENIZER}')`);
  const scopes = createScopeSizes(sql);
  port.on("message", (request: SearchRequest) => port.postMessage(answer(sql, scratch, scopes, request)));
}

function answer(sql: Sql, scratch: Sql, scopes: ScopeSizes, request: SearchRequest): SearchReply {
  const { id } = request;
  try {
    if (request.kind === "memories") {
      return { id, kind: "memories", memories: searchMemories(sql, scopes, request.query) };
    }
    return { id, kind: "conversations", answer: searchConversations(sql, scratch, scopes, request.query) };
  } catch (error) {
    return { id, kind: "failed", error: describeError(error) };
  }
}

if (parentPort !== null) serve(parentPort);
