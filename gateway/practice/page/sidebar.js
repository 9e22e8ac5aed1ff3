import { state } from "./api.js";
import { byId, el, fill } from "./dom.js";

const ICONS = { 0: "#", 2: "♪", 5: "!", 15: "▤" };

/** Draws channels, threads, the direct message and the people. */
export function drawSidebar({ onOpen, onPerson }) {
  byId("guild").textContent = state.guild;
  fill(
    byId("channels"),
    state.channels.map((channel) => [
      entry(channel, ICONS[channel.type] ?? "#", onOpen),
      channel.threads
        .filter((thread) => !thread.archived || thread.id === state.channel?.id)
        .map((thread) => threadEntry(thread, onOpen)),
      archivedGroup(channel, onOpen),
    ]),
    el("h2", {}, "Direct messages"),
    entry(
      { ...state.dm, name: state.bot.name },
      el("img", { className: "avatar tiny", src: state.bot.avatar, alt: "" }),
      onOpen,
    ),
  );
  fill(
    byId("people"),
    state.people.map((person) => personEntry(person, onPerson)),
  );
}

function entry(channel, icon, onOpen) {
  const current = state.channel?.id === channel.id;
  const unread = !current && isUnread(channel);
  return el(
    "button",
    {
      className: `channel${unread ? " unread" : ""}`,
      type: "button",
      "aria-current": current ? "page" : undefined,
      "data-key": `channel:${channel.id}`,
      onclick: () => onOpen(channel.id),
    },
    el("span", { className: "channel-icon", "aria-hidden": "true" }, icon),
    el("span", { className: "channel-name" }, channel.name),
    unread ? el("span", { className: "dot", role: "img", "aria-label": "unread" }) : null,
  );
}

function threadEntry(thread, onOpen) {
  const button = entry(thread, thread.locked ? "🔒" : "└", onOpen);
  button.classList.add("thread");
  return button;
}

function archivedGroup(channel, onOpen) {
  const archived = channel.threads.filter((thread) => thread.archived && thread.id !== state.channel?.id);
  if (archived.length === 0) return null;
  return el(
    "details",
    { className: "archived" },
    el("summary", {}, `${archived.length} archived`),
    archived.map((thread) => threadEntry(thread, onOpen)),
  );
}

function isUnread(channel) {
  const seen = state.seen.get(`${state.me}:${channel.id}`);
  return channel.last_message_id !== null && (seen === undefined || BigInt(channel.last_message_id) > BigInt(seen));
}

function personEntry(person, onPerson) {
  const chosen = person.id === state.me;
  return el(
    "button",
    {
      className: "person",
      type: "button",
      role: "radio",
      "aria-checked": chosen,
      "data-key": `person:${person.id}`,
      title: person.role ? `${person.name} (${person.role})` : person.name,
      onclick: () => onPerson(person.id),
    },
    el("img", { className: "avatar small", src: person.avatar, alt: "" }),
    el("span", { className: "person-name" }, person.name),
  );
}
