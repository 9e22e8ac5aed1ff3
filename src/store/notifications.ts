import type { NotificationRow, NotificationStore } from "../contracts/store.ts";
import { insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

const COLUMNS = [
  "notification_id",
  "ws_id",
  "call_id",
  "turn_seq",
  "target",
  "title",
  "message",
  "state",
  "deliveries",
  "created",
] as const;

type NotificationRecord = Omit<NotificationRow, "target" | "deliveries"> & { target: string; deliveries: string };

/** Outgoing notifications in SQLite. */
export function createNotifications(sql: Sql, writer: Writer): NotificationStore {
  return {
    open: (row, limit) => writer.write(() => openNotification(sql, row, limit)),
    async settle(notification_id, state, deliveries) {
      await writer.write(() => {
        const settled = sql.run(
          "update notifications set state = @state, deliveries = @deliveries where notification_id = @notification_id",
          { notification_id, state, deliveries: JSON.stringify(deliveries) },
        );
        if (settled === 0) throw new Error(`Notification ${notification_id} does not exist, so it cannot be settled.`);
      });
    },
    async get(notification_id) {
      const record = sql.get<NotificationRecord>(
        `select ${COLUMNS.join(", ")} from notifications where notification_id = @notification_id`,
        { notification_id },
      );
      if (record === undefined) return null;
      return { ...record, target: JSON.parse(record.target), deliveries: JSON.parse(record.deliveries) };
    },
  };
}

/** Counting and taking a place are one transaction, so that calls at the same time cannot take the same place. */
function openNotification(sql: Sql, row: NotificationRow, limit: number): boolean {
  const taken = sql.get<{ count: number }>(
    `select count(*) as count from notifications
     where ws_id = @ws_id and turn_seq = @turn_seq and state in ('sending', 'sent')`,
    { ws_id: row.ws_id, turn_seq: row.turn_seq },
  );
  if ((taken?.count ?? 0) >= limit) return false;
  sql.run(insertSql("notifications", COLUMNS), {
    ...row,
    target: JSON.stringify(row.target),
    deliveries: JSON.stringify(row.deliveries),
  });
  return true;
}
