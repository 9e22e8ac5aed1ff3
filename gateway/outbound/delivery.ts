import { createHash } from "node:crypto";
import type { ChannelFailure, ChannelResult } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
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
}

export function createDelivery(gateway: Pick<Gateway, "adapter" | "server" | "log">, place: DeliveryPlace): Delivery {
  const { adapter, server, log } = gateway;
  const known = new Map<string, Map<number, Shown>>();
  const replaced = new Map<string, string>();

  const recall = async (ws_id: string, shows: string): Promise<Map<number, Shown>> => {
    const remembered = known.get(shows);
    if (remembered !== undefined) return remembered;
    const answer = await server.postedShowing(ws_id, shows);
    if (!answer.ok) throw new DeliveryUnavailable(`The server did not say what shows ${shows}: ${answer.error}`);
    const here = answer.value.posted.filter((message) => message.channel_id === place.route_channel_id);
    const parts = new Map(here.map(({ part, message_id }) => [part, { message_id, fingerprint: "" }]));
    known.set(shows, parts);
    return parts;
  };

  const edit = async (message_id: string, view: View): Promise<ChannelResult<null>> => {
    const edited = await adapter.edit(place.channel_id, message_id, view);
    if (edited.ok || edited.reason !== "archived") return edited;
    const opened = await adapter.archiveThread(place.channel_id, false);
    return opened.ok ? adapter.edit(place.channel_id, message_id, view) : opened;
  };

  const post = async (ws_id: string, shows: string, part: number, view: View): Promise<ChannelResult<{ message_id: string }>> => {
    const key = `${shows}#${part}`;
    const nonce = nonceOf(ws_id, key, replaced.get(key) ?? "");
    const posted = await adapter.post(place.channel_id, view, { nonce });
    if (!posted.ok) return posted;
    const body = { channel_id: place.route_channel_id, message_id: posted.value.message_id, ws_id, shows, part };
    const saved = await server.savePosted(body);
    if (!saved.ok) log.warn("posted.not_saved", { shows, status: saved.status });
    return posted;
  };

  const showPart = async (ws_id: string, shows: string, part: number, view: View, parts: Map<number, Shown>): Promise<boolean> => {
    const fingerprint = fingerprintOf(view);
    const there = parts.get(part);
    if (there?.fingerprint === fingerprint) return true;
    if (there !== undefined) {
      const edited = await edit(there.message_id, view);
      if (edited.ok) {
        there.fingerprint = fingerprint;
        return true;
      }
      if (edited.reason !== "message_gone") return judge(edited.reason, edited.detail, () => showWithoutFiles(view, edited.reason, (plain) => showPart(ws_id, shows, part, plain, parts)));
      parts.delete(part);
      replaced.set(`${shows}#${part}`, there.message_id);
    }
    const posted = await post(ws_id, shows, part, view);
    if (!posted.ok) return judge(posted.reason, posted.detail, () => showWithoutFiles(view, posted.reason, (plain) => showPart(ws_id, shows, part, plain, parts)));
    parts.set(part, { message_id: posted.value.message_id, fingerprint });
    return true;
  };

  const judge = async (reason: ChannelFailure, detail: string, fallback: () => Promise<boolean> | false): Promise<boolean> => {
    if (reason === "unavailable" || reason === "rate_limited") throw new DeliveryUnavailable(detail);
    if (reason === "channel_gone") throw new PlaceGone(detail);
    log.warn("message.not_shown", { channel_id: place.channel_id, reason, detail });
    return fallback();
  };

  return {
    async show(ws_id, shows, views) {
      const parts = await recall(ws_id, shows);
      let shown = true;
      for (const [part, view] of views.entries()) shown = (await showPart(ws_id, shows, part, view, parts)) && shown;
      for (const [part, there] of [...parts]) {
        if (part < views.length) continue;
        const removed = await adapter.remove(place.channel_id, there.message_id);
        if (removed.ok || removed.reason === "message_gone") parts.delete(part);
      }
      return shown;
    },
    forget(message_id) {
      for (const [shows, parts] of known) {
        for (const [part, there] of parts) {
          if (there.message_id !== message_id) continue;
          parts.delete(part);
          replaced.set(`${shows}#${part}`, message_id);
          return shows;
        }
      }
      return null;
    },
    clear() {
      known.clear();
      replaced.clear();
    },
  };
}

/** A message whose files are too large for this place is shown without them. */
function showWithoutFiles(view: View, reason: ChannelFailure, show: (view: View) => Promise<boolean>): Promise<boolean> | false {
  if (reason !== "too_large" || view.files.length === 0) return false;
  const note = `-# ${view.files.map((file) => file.name).join(", ")}: too large for this place`;
  if (view.kind === "text") return show({ ...view, files: [], text: view.text === "" ? note : `${view.text.slice(0, 1800)}\n${note}` });
  const blocks = view.blocks.filter((block) => block.kind !== "file");
  return show({ ...view, files: [], blocks: [...blocks, { kind: "text", text: note }] });
}

/** The same for the same message of the same entry, so that a repeated request gives the first message. */
function nonceOf(ws_id: string, key: string, replaces: string): string {
  return createHash("sha256").update(`${ws_id}\n${key}\n${replaces}`).digest("base64url").slice(0, 24);
}

function fingerprintOf(view: View): string {
  const { files, ...rest } = view;
  const sizes = files.map((file) => `${file.name}:${file.bytes.length}`).join(",");
  return createHash("sha1").update(`${JSON.stringify(rest)}\n${sizes}`).digest("base64");
}
