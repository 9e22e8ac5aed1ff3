import { toast } from "./dom.js";

/** What the page knows. `channel` is the open one, with its messages; `seen` the last message read, by channel. */
export const state = {
  me: null,
  people: [],
  roles: [],
  bot: null,
  channels: [],
  dm: null,
  guild: "",
  channel: null,
  seen: new Map(),
};

async function ask(path, options) {
  const response = await fetch(path, options);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error ?? "The server did not answer.");
  return body;
}

export function fetchState() {
  return ask(`/page/api/state?as=${encodeURIComponent(state.me ?? "")}`);
}

export function fetchChannel(id) {
  return ask(`/page/api/channels/${encodeURIComponent(id)}?as=${encodeURIComponent(state.me)}`);
}

/** Does something as the person; a refusal is shown and answered as null. */
export async function act(action, body) {
  try {
    return await ask("/page/api/act", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ as: state.me, action, ...body }),
    });
  } catch (error) {
    toast(error.message);
    return null;
  }
}

/** Calls back with the ids of channels that changed; after a gap with null, which means anything may have. */
export function listen(onChange) {
  const source = new EventSource("/page/api/events");
  let wasOpen = false;
  source.addEventListener("open", () => {
    document.body.classList.remove("offline");
    if (wasOpen) onChange(null);
    wasOpen = true;
  });
  source.addEventListener("error", () => document.body.classList.add("offline"));
  source.addEventListener("message", (event) => onChange(JSON.parse(event.data).changed));
}

/** Everybody, the bot included. */
export function everybody() {
  return [...state.people, state.bot];
}

/** Every channel and thread that the person sees. */
export function allChannels() {
  return [state.dm, ...state.channels.flatMap((channel) => [channel, ...channel.threads])];
}
