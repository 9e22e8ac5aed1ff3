import type { ChannelStore } from "../contracts/store.ts";
import { DAY_MS } from "../lib/clock.ts";
import type { ChannelMark } from "../protocol/channel.ts";
import type { Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

type MarkMethods = Pick<ChannelStore, "marks" | "moveMarks">;

/** Nobody reads further back than a day, so that an older mark says nothing. */
const KEPT_MS = 7 * DAY_MS;

/** Platform ids are numbers in text: the longer one is the later one, and of two alike in length the greater. */
const MOVE = `insert into channel_marks values (@channel_type, @channel_id, @heard_id, @at)
  on conflict (channel_type, channel_id) do update set heard_id = @heard_id, updated = @at
    where (length(@heard_id), @heard_id) > (length(heard_id), heard_id)`;

/** Up to where channels were heard, in SQLite. */
export function createChannelMarks(sql: Sql, writer: Writer): MarkMethods {
  return {
    async marks(channel_type) {
      const text = "select channel_id, heard_id from channel_marks where channel_type = @channel_type";
      return sql.all<ChannelMark>(text, { channel_type });
    },
    moveMarks: (channel_type, marks, at) =>
      writer.write(() => {
        for (const { channel_id, heard_id } of marks) sql.run(MOVE, { channel_type, channel_id, heard_id, at });
        const before = new Date(Date.parse(at) - KEPT_MS).toISOString();
        sql.run("delete from channel_marks where updated < @before", { before });
      }),
  };
}
