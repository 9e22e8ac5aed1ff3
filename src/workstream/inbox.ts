import type { Draft } from "../agent/turn_port.ts";
import type { EngineFailure, IncomingMessage } from "../contracts/engine.ts";
import type { MessageRow } from "../contracts/store.ts";
import { timestamp } from "../lib/clock.ts";
import { newPrefixedId } from "../lib/ids.ts";
import { visibleLine } from "../lib/visible.ts";
import type { AttachmentReference, MessageQueuedEvent, UserTurnEvent } from "../protocol/event.ts";
import type { SendAnswer } from "../protocol/workstream.ts";
import type { LiveWorkstream } from "./live_workstream.ts";
import type { EngineServices } from "./services.ts";

/** Messages that may wait for a running turn. */
export const QUEUE_MAX = 20;

/**
 * Bytes of an attached text that the model reads along with the message; longer ones are files to be read with tools.
 */
export const INLINE_TEXT_BYTES_MAX = 65_536;

/** What people say to one workstream: accepted once, then part of a turn. */
export class Inbox {
  readonly #actor: LiveWorkstream;
  #queued: MessageRow[];

  constructor(actor: LiveWorkstream, queued: MessageRow[]) {
    this.#actor = actor;
    this.#queued = queued;
  }

  get queued(): readonly MessageRow[] {
    return this.#queued;
  }

  send(message: IncomingMessage): Promise<SendAnswer | EngineFailure> {
    return this.#actor.serial(async () => {
      const { row, services } = this.#actor;
      if (message.client_send_id !== null) {
        const known = await services.store.messages.byClientSendId(row.ws_id, message.client_send_id);
        if (known !== null) return { status: known.answered, msg_id: known.msg_id };
      }
      if (row.closed !== null) {
        return { ok: false, reason: "closed", error: "This workstream is closed; start a new one or open it again." };
      }
      const waits = this.#actor.is_busy;
      if (waits && this.#queued.length >= QUEUE_MAX) return { status: "queue_full", msg_id: "" };
      const accepted = messageRow(row.ws_id, message, waits, timestamp(services.clock));
      await this.#actor.append(await acceptedDraft(accepted, services));
      if (waits) this.#enqueue(accepted);
      this.#actor.start();
      return { status: accepted.answered, msg_id: accepted.msg_id };
    });
  }

  #enqueue(row: MessageRow): void {
    this.#queued.push(row);
    this.#actor.emit(queuedEvent(row));
  }

  withdraw(msg_id: string): Promise<"withdrawn" | "joined" | "unknown"> {
    return this.#actor.serial(async () => {
      if (this.#queued.some((row) => row.msg_id === msg_id)) {
        await this.#drop((row) => row.msg_id === msg_id);
        return "withdrawn";
      }
      const row = await this.#actor.services.store.messages.get(msg_id);
      if (row === null || row.ws_id !== this.#actor.row.ws_id) return "unknown";
      return row.state === "withdrawn" ? "withdrawn" : "joined";
    });
  }

  /** Takes every waiting message back; answers how many. Only within a request of the actor. */
  dropAll(): Promise<number> {
    return this.#drop(() => true);
  }

  async #drop(which: (row: MessageRow) => boolean): Promise<number> {
    const rows = this.#queued.filter(which);
    if (rows.length === 0) return 0;
    this.#queued = this.#queued.filter((row) => !rows.includes(row));
    try {
      const changes = rows.map(({ msg_id }) => ({ kind: "message_withdrawn" as const, msg_id }));
      await this.#actor.append({ entries: [], changes });
    } catch (error) {
      this.#queued = [...rows, ...this.#queued];
      throw error;
    }
    for (const { msg_id } of rows) this.#actor.emit({ type: "message_withdrawn", msg_id });
    return rows.length;
  }

  /** Waiting messages become entries: of the running turn, or the beginning of the next. */
  async join(signal: AbortSignal): Promise<boolean> {
    const rows = this.#queued;
    if (rows.length === 0) return false;
    this.#queued = [];
    try {
      await this.#actor.appendPersistently(await joinDraft(rows, this.#actor.services), signal);
    } catch (error) {
      this.#queued = [...rows, ...this.#queued];
      throw error;
    }
    return true;
  }
}

/** That a message waits, as it is told when it comes and to whoever comes later. */
export function queuedEvent({ client_send_id, content, msg_id }: MessageRow): MessageQueuedEvent {
  return { type: "message_queued", msg_id, content, ...(client_send_id === null ? {} : { client_send_id }) };
}

function messageRow(ws_id: string, message: IncomingMessage, waits: boolean, created: string): MessageRow {
  return {
    ...message,
    msg_id: newPrefixedId("msg"),
    ws_id,
    state: waits ? "queued" : "joined",
    answered: waits ? "queued" : "ok",
    created,
  };
}

type Keeping = Pick<EngineServices, "store" | "redact">;

/** What is written when a message is accepted: its row and, unless it waits, the entry that opens a turn. */
async function acceptedDraft(row: MessageRow, keeping: Keeping): Promise<Draft> {
  const changes: Draft["changes"] = [{ kind: "message_accepted", message: row }];
  if (row.state === "queued") return { entries: [], changes };
  return { entries: [await userTurn(row, keeping)], state: "thinking", turn_open: true, changes };
}

async function joinDraft(rows: readonly MessageRow[], keeping: Keeping): Promise<Draft> {
  return {
    entries: await Promise.all(rows.map((row) => userTurn(row, keeping))),
    state: "thinking",
    turn_open: true,
    changes: rows.map(({ msg_id }) => ({ kind: "message_joined" as const, msg_id })),
  };
}

async function userTurn(row: MessageRow, keeping: Keeping): Promise<Draft["entries"][number]> {
  const { content, attachments, sender, source, client_send_id } = row;
  const event: UserTurnEvent = {
    type: "user_turn",
    content,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(sender === null ? {} : { sender }),
    source,
    client_send_ids: client_send_id === null ? [] : [client_send_id],
  };
  if (attachments.length === 0) return { event };
  const attached_text = await inlineText(attachments, keeping);
  return attached_text === "" ? { event } : { event, private: { attached_text } };
}

async function inlineText(attachments: readonly AttachmentReference[], { store, redact }: Keeping): Promise<string> {
  const texts: string[] = [];
  for (const { attachment_id, filename, media_type, size, path } of attachments) {
    if (path !== undefined || !media_type.startsWith("text/") || size > INLINE_TEXT_BYTES_MAX) continue;
    const bytes = await store.attachments.bytes(attachment_id);
    if (bytes === null) continue;
    const name = visibleLine(filename);
    texts.push(`[Attached file ${name}]\n${redact(new TextDecoder().decode(bytes))}\n[End of ${name}]`);
  }
  return texts.join("\n\n");
}
