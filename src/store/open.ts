import type { Store } from "../contracts/store.ts";
import { createApprovals } from "./approvals.ts";
import { createAttachments } from "./attachments.ts";
import { createAudit } from "./audit.ts";
import { backupDatabase } from "./backup.ts";
import { createBudgets } from "./budgets.ts";
import { createChannels } from "./channels.ts";
import { openDatabase } from "./database.ts";
import { createJournal } from "./journal.ts";
import { createMcpSignIns } from "./mcp_sign_ins.ts";
import { createMemories } from "./memories.ts";
import { createMessages } from "./messages.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { createNotifications } from "./notifications.ts";
import { createRemoval, type Removal } from "./removal.ts";
import { createSearch } from "./search.ts";
import { createSearchClient } from "./search_client.ts";
import { createSearchIndexer } from "./search_index.ts";
import { createServices } from "./services.ts";
import { createSql } from "./sql.ts";
import { createUsage } from "./usage.ts";
import { createUsers } from "./users.ts";
import { createWorkstreams } from "./workstreams.ts";
import { createWriter } from "./writer.ts";

export interface OpenOptions {
  /** The database file; its folder is made where it is missing. */
  path: string;
  /** Milliseconds since the epoch; the machine's clock where absent. */
  now?: () => number;
}

/** The store in one SQLite file. */
export interface SqliteStore extends Store {
  /** Removes conversations that nobody touched for `retention_days`; answers how many. */
  prune: Removal["prune"];
}

/**
 * Opens the store, making or upgrading its file. Throws a `StoreError` when the file is not a database of ours, has a
 * newer schema, is locked or cannot be written to.
 */
export async function openStore({ path, now = Date.now }: OpenOptions): Promise<SqliteStore> {
  const connection = await openDatabase(path, MIGRATIONS, new Date(now()).toISOString());
  const sql = createSql(connection);
  const writer = createWriter(sql);
  const indexer = createSearchIndexer(sql, writer);
  const client = createSearchClient(path);
  const removal = createRemoval(sql, writer, now);
  const memories = createMemories(sql, writer, client, now);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    indexer.close();
    await Promise.all([client.close(), writer.close()]);
    connection.close();
  };
  indexer.wake();
  // What is left over is hidden already, so a failure here only leaves it for the next start.
  removal.finish().catch(() => undefined);
  return {
    journal: createJournal(sql, writer, indexer),
    workstreams: createWorkstreams(sql, writer, removal),
    messages: createMessages(sql),
    approvals: createApprovals(sql, writer),
    attachments: createAttachments(sql, writer),
    memories,
    search: createSearch(client, indexer),
    users: createUsers(sql, writer, memories),
    channels: createChannels(sql, writer),
    services: createServices(sql, writer),
    notifications: createNotifications(sql, writer),
    audit: createAudit(sql, writer),
    usage: createUsage(sql),
    budgets: createBudgets(sql, writer),
    mcp_sign_ins: createMcpSignIns(sql, writer),
    backup: (target) => backupDatabase(connection, target),
    prune: (options) => removal.prune(options),
    isDamaged: () => sql.isDamaged(),
    check: () =>
      writer
        .write(() => sql.run("update search_progress set entry_number = entry_number"))
        .then(
          () => true,
          () => false,
        ),
    close: () => (closing ??= close()),
  };
}
