import { createHash } from "node:crypto";
import type { ChannelFailure, ChannelResult } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { safeSlice } from "../render/defuse.ts";
import type { View } from "../render/view.ts";

/** Where something is shown. */
export interface DeliveryPlace {
  /** As in the route: posted messages are remembered under it. */
  route_channel_id: string;
  /** Where messages go on the platform. */
  channel_id: string;
}

/** Shows things in one place, each as one or more messages that are found again and edited, never doubled. */
export interface Delivery {
  /**
   * Makes the place show exactly these views for `shows`. What is there is edited where it differs, what is missing is
   * posted, what is too much is removed; no views at all remove it. False when the platform will not have it.
   */
  show(ws_id: string, shows: string, views: readonly View[]): Promise<boolean>;
  /** Channels, as in routes, in which a message showed it when it was first asked for here. */
  places(ws_id: string, shows: string): Promise<readonly string[]>;
  /** Messages that show it now, as far as is remembered. */
  shown(shows: string): number;
  /** Forgets a message that was deleted; answers what it showed. */
  forget(message_id: string): string | null;
  /** Drops what is remembered of finished turns. */
  clear(): void;
}

/** The platform or the network is away: the same entry is tried again later. */
export class DeliveryUnavailable extends Error {}

/** The place does not exist any more. */
export class PlaceGone extends Error {}

interface Shown {
  message_id: string;
  /** Of the view that it shows; empty where that is not known. */
  fingerprint: string;
  /** Of the last edit; none yet: long ago. */
  edited_at: number;
}

type Surroundings = Pick<Gateway, "adapter" | "server" | "log" | "clock" | "settings" | "signal">;

export function createDelivery(gateway: Surroundings, place: DeliveryPlace): Delivery {
  return new PlaceDelivery(gateway, place);
}

/** One message that something takes up. */
interface Wanted {
  ws_id: string;
  shows: string;
  part: number;
  view: View;
  parts: Map<number, Shown>;
}

class PlaceDelivery implements Delivery {
  readonly #gateway: Surroundings;
  readonly #place: DeliveryPlace;
  readonly #known = new Map<string, Map<number, Shown>>();
  readonly #places = new Map<string, readonly string[]>();
  /** Messages that were deleted, by what they showed: a new one in their place needs another nonce. */
  readonly #replaced = new Map<string, string>();

  constructor(gateway: Surroundings, place: DeliveryPlace) {
    this.#gateway = gateway;
    this.#place = place;
  }

  async show(ws_id: string, shows: string, views: readonly View[]): Promise<boolean> {
    const parts = await this.#recall(ws_id, shows);
    let shown = true;
    for (const [part, view] of views.entries()) {
      shown = (await this.#showPart({ ws_id, shows, part, view, parts })) && shown;
    }
    for (const [part, there] of parts) {
      if (part < views.length) continue;
      const removed = await this.#gateway.adapter.remove(this.#place.channel_id, there.message_id);
      if (removed.ok || removed.reason === "message_gone") parts.delete(part);
    }
    return shown;
  }

  async places(ws_id: string, shows: string): Promise<readonly string[]> {
    await this.#recall(ws_id, shows);
    return this.#places.get(shows) ?? [];
  }

  shown(shows: string): number {
    return this.#known.get(shows)?.size ?? 0;
  }

  forget(message_id: string): string | null {
    for (const [shows, parts] of this.#known) {
      for (const [part, there] of parts) {
        if (there.message_id !== message_id) continue;
        parts.delete(part);
        this.#replaced.set(`${shows}#${part}`, message_id);
        return shows;
      }
    }
    return null;
  }

  clear(): void {
    this.#known.clear();
    this.#places.clear();
    this.#replaced.clear();
  }

  async #recall(ws_id: string, shows: string): Promise<Map<number, Shown>> {
    const remembered = this.#known.get(shows);
    if (remembered !== undefined) return remembered;
    const answer = await this.#gateway.server.postedShowing(ws_id, shows);
    if (!answer.ok) throw new DeliveryUnavailable(`The server did not say what shows ${shows}: ${answer.error}`);
    const here = answer.value.posted.filter((message) => message.channel_id === this.#place.route_channel_id);
    const parts = new Map(here.map(({ part, message_id }) => [part, { message_id, fingerprint: "", edited_at: 0 }]));
    this.#known.set(shows, parts);
    this.#places.set(
      shows,
      answer.value.posted.map(({ channel_id }) => channel_id),
    );
    return parts;
  }

  async #showPart(wanted: Wanted): Promise<boolean> {
    const { part, parts, view } = wanted;
    const fingerprint = fingerprintOf(view);
    const there = parts.get(part);
    if (there?.fingerprint === fingerprint) return true;
    if (there !== undefined) {
      await this.#keepPace(there);
      const edited = await this.#edit(there.message_id, view);
      there.edited_at = this.#gateway.clock.now();
      if (edited.ok) {
        there.fingerprint = fingerprint;
        return true;
      }
      const is_lost = edited.reason === "message_gone" || edited.reason === "worn_out";
      if (!is_lost) return this.#judge(wanted, edited.reason, edited.detail);
      parts.delete(part);
      // Left standing, it would show what holds no more, with buttons that look alive.
      if (edited.reason === "worn_out") await this.#gateway.adapter.remove(this.#place.channel_id, there.message_id);
      this.#replaced.set(`${wanted.shows}#${part}`, there.message_id);
    }
    const asked_at = this.#gateway.clock.now();
    const posted = await this.#post(wanted);
    if (!posted.ok) return this.#judge(wanted, posted.reason, posted.detail);
    const { message_id } = posted.value;
    // The nonce gave a message that a gateway posted before it was killed: it shows what held then.
    const is_older = BigInt(message_id) < BigInt(this.#gateway.adapter.idAt(asked_at));
    parts.set(part, { message_id, fingerprint: is_older ? "" : fingerprint, edited_at: 0 });
    return is_older ? this.#showPart(wanted) : true;
  }

  /** No message is edited more often than people can follow and the platform likes; who stops waits no longer. */
  async #keepPace({ edited_at }: Shown): Promise<void> {
    const { clock, settings, signal } = this.#gateway;
    const wait = edited_at + settings.discord.edit_interval_ms - clock.now();
    if (wait > 0) await clock.sleep(wait, signal).catch(() => {});
  }

  /** In an archived thread nothing can be edited, so it is opened first. */
  async #edit(message_id: string, view: View): Promise<ChannelResult<null>> {
    const { adapter } = this.#gateway;
    const { channel_id } = this.#place;
    const edited = await adapter.edit(channel_id, message_id, view);
    if (edited.ok || edited.reason !== "archived") return edited;
    const opened = await adapter.archiveThread(channel_id, false);
    return opened.ok ? adapter.edit(channel_id, message_id, view) : opened;
  }

  async #post({ ws_id, shows, part, view }: Wanted): Promise<ChannelResult<{ message_id: string }>> {
    const { adapter, server, log } = this.#gateway;
    const key = `${shows}#${part}`;
    const nonce = nonceOf(ws_id, key, this.#replaced.get(key) ?? "");
    const posted = await adapter.post(this.#place.channel_id, view, { nonce });
    if (!posted.ok) return posted;
    const { message_id } = posted.value;
    const saved = await server.savePosted({ channel_id: this.#place.route_channel_id, message_id, ws_id, shows, part });
    if (!saved.ok) log.warn("posted.not_saved", { shows, status: saved.status });
    return posted;
  }

  /** What a refusal means: later, never again here, without the files, or not at all. */
  async #judge(wanted: Wanted, reason: ChannelFailure, detail: string): Promise<boolean> {
    if (reason === "unavailable" || reason === "rate_limited") throw new DeliveryUnavailable(detail);
    if (reason === "channel_gone") throw new PlaceGone(detail);
    this.#gateway.log.warn("message.not_shown", { channel_id: this.#place.channel_id, reason, detail });
    const bare = reason === "too_large" ? withoutFiles(wanted.view) : null;
    return bare === null ? false : this.#showPart({ ...wanted, view: bare });
  }
}

/** The same view without its files, which it names; null where it has none. */
function withoutFiles(view: View): View | null {
  if (view.files.length === 0) return null;
  const note = `-# ${view.files.map((file) => file.name).join(", ")}: too large for this place`;
  if (view.kind === "text") {
    return { ...view, files: [], text: view.text === "" ? note : `${safeSlice(view.text, 1800)}\n${note}` };
  }
  const blocks = view.blocks.filter((block) => block.kind !== "file");
  return { ...view, files: [], blocks: [...blocks, { kind: "text", text: note }] };
}

/** The same for the same message of the same entry, so that a repeated request gives the first message. */
function nonceOf(ws_id: string, key: string, replaces: string): string {
  return createHash("sha256").update(`${ws_id}\n${key}\n${replaces}`).digest("base64url").slice(0, 24);
}

function fingerprintOf(view: View): string {
  const { files, ...rest } = view;
  const sizes = files.map((file) => `${file.name}:${file.bytes.length}`).join(",");
  return createHash("sha1")
    .update(`${JSON.stringify(rest)}\n${sizes}`)
    .digest("base64");
}
