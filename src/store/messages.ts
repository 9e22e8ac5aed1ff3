import type { MessageQueueStore, MessageRow } from "../contracts/store.ts";
import { insertSql, type Sql } from "./sql.ts";

const COLUMNS = [
  "msg_id",
  "ws_id",
  "client_send_id",
  "state",
  "answered",
  "content",
  "attachments",
  "sender",
  "source",
  "created",
] as const;
const SELECT = `select ${COLUMNS.join(", ")} from messages`;

type MessageRecord = Omit<MessageRow, "attachments" | "sender"> & { attachments: string; sender: string | null };

/** Accepted messages in SQLite; they change by steps of the journal alone. */
export function createMessages(sql: Sql): MessageQueueStore {
  return {
    async byClientSendId(ws_id, client_send_id) {
      const where = "where ws_id = @ws_id and client_send_id = @client_send_id";
      return messageOf(sql.get<MessageRecord>(`${SELECT} ${where}`, { ws_id, client_send_id }));
    },
    async get(msg_id) {
      return messageOf(sql.get<MessageRecord>(`${SELECT} where msg_id = @msg_id`, { msg_id }));
    },
    async queued(ws_id) {
      return sql
        .all<MessageRecord>(`${SELECT} where ws_id = @ws_id and state = 'queued' order by message_number`, { ws_id })
        .flatMap((record) => messageOf(record) ?? []);
    },
  };
}

/** Adds an accepted message. Throws when its `client_send_id` was accepted in that workstream before. */
export function insertMessage(sql: Sql, message: MessageRow): void {
  sql.run(insertSql("messages", COLUMNS), {
    ...message,
    attachments: JSON.stringify(message.attachments),
    sender: message.sender === null ? null : JSON.stringify(message.sender),
  });
}

/** Takes a message out of the queue. Throws when it is not queued. */
export function moveMessage(sql: Sql, msg_id: string, state: "joined" | "withdrawn"): void {
  const moved = sql.run("update messages set state = @state where msg_id = @msg_id and state = 'queued'", {
    msg_id,
    state,
  });
  if (moved === 0) throw new Error(`Message ${msg_id} is not queued, so it cannot become ${state}.`);
}

function messageOf(record: MessageRecord | undefined): MessageRow | null {
  if (record === undefined) return null;
  return {
    ...record,
    attachments: JSON.parse(record.attachments),
    sender: record.sender === null ? null : JSON.parse(record.sender),
  };
}
