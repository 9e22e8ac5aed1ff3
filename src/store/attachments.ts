import type { AttachmentRow, AttachmentStore } from "../contracts/store.ts";
import { insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

const COLUMNS = [
  "attachment_id",
  "ws_id",
  "user_id",
  "filename",
  "media_type",
  "size",
  "path",
  "width",
  "height",
  "created",
] as const;
const SELECT = `select ${COLUMNS.join(", ")} from attachments`;

type AttachmentRecord = Omit<AttachmentRow, "path" | "width" | "height"> & {
  path: string | null;
  width: number | null;
  height: number | null;
};

/** Attachments in SQLite; the bytes lie apart, so that a list never reads them. */
export function createAttachments(sql: Sql, writer: Writer): AttachmentStore {
  return {
    async save(row, bytes) {
      await writer.write(() => {
        const { attachment_id, path = null, width = null, height = null } = row;
        sql.run(insertSql("attachments", COLUMNS), { ...row, path, width, height });
        sql.run("insert into attachment_bytes (attachment_id, bytes) values (@attachment_id, @bytes)", {
          attachment_id,
          bytes,
        });
      });
    },
    async get(attachment_id) {
      const record = sql.get<AttachmentRecord>(`${SELECT} where attachment_id = @attachment_id`, { attachment_id });
      return record === undefined ? null : attachmentOf(record);
    },
    async bytes(attachment_id) {
      const where = "where attachment_id = @attachment_id";
      return (
        sql.get<{ bytes: Uint8Array }>(`select bytes from attachment_bytes ${where}`, { attachment_id })?.bytes ?? null
      );
    },
    async list(ws_id) {
      return sql
        .all<AttachmentRecord>(`${SELECT} where ws_id = @ws_id order by attachment_number`, { ws_id })
        .map(attachmentOf);
    },
    remove: (attachment_id) =>
      writer.write(
        () => sql.run("delete from attachments where attachment_id = @attachment_id", { attachment_id }) > 0,
      ),
  };
}

function attachmentOf({ path, width, height, ...row }: AttachmentRecord): AttachmentRow {
  return {
    ...row,
    ...(path === null ? {} : { path }),
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
  };
}
