import type { ServiceRow, ServiceStore } from "../contracts/store.ts";
import type { Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

type ServiceRecord = Omit<ServiceRow, "metadata"> & { metadata: string };

/** Who serves what, in SQLite. */
export function createServices(sql: Sql, writer: Writer): ServiceStore {
  return {
    async heartbeat(row) {
      await writer.write(() =>
        sql.run(
          `insert into services (service_type, service_id, url, metadata, last_heartbeat, created)
           values (@service_type, @service_id, @url, @metadata, @last_heartbeat, @last_heartbeat)
           on conflict (service_type, service_id) do update
             set url = @url, metadata = @metadata, last_heartbeat = @last_heartbeat`,
          { ...row, metadata: JSON.stringify(row.metadata) },
        ),
      );
    },
    remove: (service_type, service_id) =>
      writer.write(() => {
        const text = "delete from services where service_type = @service_type and service_id = @service_id";
        return sql.run(text, { service_type, service_id }) > 0;
      }),
    async healthy(service_type, since) {
      return sql
        .all<ServiceRecord>(
          `select service_type, service_id, url, metadata, last_heartbeat, created from services
           where service_type = @service_type and last_heartbeat >= @since order by last_heartbeat desc, service_id`,
          { service_type, since },
        )
        .map((record) => ({ ...record, metadata: JSON.parse(record.metadata) }));
    },
  };
}
