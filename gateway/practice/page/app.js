import { act, fetchChannel, fetchState, listen, state } from "./api.js";
import { drawComposer, editMessage, replyTo, resetComposer, startComposer } from "./composer.js";
import { byId, fill, toast } from "./dom.js";
import { refreshTimes } from "./markdown.js";
import { openThreadDialog } from "./modal.js";
import { closeMessageMenus, continues, messageElement, setMessageHooks } from "./message.js";
import { drawSidebar } from "./sidebar.js";

const NEAR_BOTTOM_PX = 80;
const TYPING_LOOK_MS = 5000;
const TIMES_MS = 1000;
const THREAD_TYPES = [10, 11, 12];

/** Message elements by id, each with the text it was drawn from, so that only what changed is drawn again. */
const drawn = new Map();

async function start() {
  state.me = sessionStorage.getItem("me");
  startComposer();
  setMessageHooks({ onReply: replyTo, onEdit: editMessage, onOpen: open, onThread: beginThread });
  byId("menu").addEventListener("click", () => toggleMenu());
  byId("shade").addEventListener("click", () => toggleMenu(false));
  byId("new-thread").addEventListener("click", () => void beginThread(null));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    toggleMenu(false);
    closeMessageMenus(null);
  });
  document.addEventListener("click", (event) => closeMessageMenus(event.target));
  keepToBottom();
  await refreshState();
  await open(location.hash.slice(1) || state.channels[0].id);
  listen(onChange);
  setInterval(lookForTyping, TYPING_LOOK_MS);
  setInterval(refreshTimes, TIMES_MS);
}

/** Changes come faster than they can be drawn while an answer streams; one reading at a time, and one more after it. */
let reading = false;
let again = false;

async function onChange(changed) {
  if (changed !== null && changed.length === 0) return;
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  try {
    do {
      again = false;
      await refreshState();
      await refreshChannel();
    } while (again);
  } catch (error) {
    toast(error.message);
  } finally {
    reading = false;
  }
}

async function refreshState() {
  Object.assign(state, await fetchState());
  sessionStorage.setItem("me", state.me);
  keepFocus(drawMenu);
}

function drawMenu() {
  drawSidebar({ onOpen: open, onPerson: become });
}

async function refreshChannel() {
  const id = state.channel?.id;
  if (id === undefined) return;
  let channel;
  try {
    channel = await fetchChannel(id);
  } catch {
    // Deleted or hidden meanwhile.
    await open(state.channels[0].id);
    return;
  }
  if (state.channel.id !== id) return;
  state.channel = channel;
  markSeen();
  drawChannel();
}

/** Shows a channel. What was being written is dropped when it was meant for another one, unless it is to stay. */
async function open(id, keepDraft = false) {
  let channel;
  try {
    channel = await fetchChannel(id);
  } catch (error) {
    if (id === state.channels[0].id) throw error;
    return open(state.channels[0].id);
  }
  if (!keepDraft && state.channel?.id !== channel.id) resetComposer();
  state.channel = channel;
  drawn.clear();
  byId("messages").replaceChildren();
  history.replaceState(null, "", `#${channel.id}`);
  markSeen();
  toggleMenu(false);
  drawMenu();
  drawChannel();
  byId("messages").scrollTop = byId("messages").scrollHeight;
  atBottom = true;
}

async function become(id) {
  // At once: somebody who chose a person begins to write before the rest is there.
  resetComposer();
  state.me = id;
  state.channel = null;
  const last = location.hash.slice(1);
  await refreshState();
  await open(last, true);
}

function markSeen() {
  if (state.channel.last_message_id !== null) {
    state.seen.set(`${state.me}:${state.channel.id}`, state.channel.last_message_id);
  }
}

function drawChannel() {
  const { channel } = state;
  const name = channel.type === 1 ? state.bot.name : channel.name;
  const mark = channel.type === 1 ? "@" : THREAD_TYPES.includes(channel.type) ? "└ " : "# ";
  const tags = [channel.archived && "archived", channel.locked && "locked"].filter(Boolean).join(", ");
  byId("title").textContent = `${mark}${name}${tags ? ` (${tags})` : ""}`;
  document.title = `${name} · Practice Discord`;
  byId("topic").textContent = channel.topic ?? "";
  byId("new-thread").hidden = ![0, 5, 15].includes(channel.type);
  byId("new-thread").textContent = channel.type === 15 ? "New post" : "New thread";
  keepFocus(drawMessages);
  drawTyping();
  drawComposer();
}

/** Whether the newest message is in view: then it stays there when more come or the room for messages changes. */
let atBottom = true;

function keepToBottom() {
  const box = byId("messages");
  box.addEventListener("scroll", () => {
    atBottom = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_BOTTOM_PX;
  });
  new ResizeObserver(() => {
    if (atBottom) box.scrollTop = box.scrollHeight;
  }).observe(box);
}

function drawMessages() {
  const box = byId("messages");
  const { messages } = state.channel;
  const elements = messages.map((message, index) => {
    const grouped = continues(messages[index - 1], message);
    const text = JSON.stringify([message, grouped, state.me]);
    const known = drawn.get(message.id);
    if (known?.text === text) return known.element;
    const element = messageElement(message, grouped);
    drawn.set(message.id, { text, element });
    return element;
  });
  place(box, elements);
  if (atBottom) box.scrollTop = box.scrollHeight;
}

/** Puts these elements in order and leaves those alone that are where they belong. */
function place(box, elements) {
  const wanted = new Set(elements);
  for (const child of Array.from(box.children)) if (!wanted.has(child)) child.remove();
  for (const [index, element] of elements.entries()) {
    if (box.children[index] !== element) box.insertBefore(element, box.children[index] ?? null);
  }
  if (elements.length > 0) return;
  const empty = document.createElement("p");
  empty.className = "empty";
  empty.textContent =
    state.channel.type === 15
      ? "A forum holds posts. Open one from the list, or begin a new one."
      : `Nothing here yet. Write something, or mention @${state.bot.name} with a task.`;
  fill(box, empty);
}

function drawTyping() {
  const { typing } = state.channel;
  byId("typing").textContent =
    typing.length === 0 ? "" : `${typing.join(", ")} ${typing.length === 1 ? "is" : "are"} typing…`;
}

async function lookForTyping() {
  if (state.channel?.typing.length > 0) await refreshChannel();
}

/** Draws anew and puts the focus back on what had it, by its `data-key`. */
function keepFocus(draw) {
  const key = document.activeElement?.dataset?.key;
  draw();
  if (key !== undefined && document.activeElement?.dataset?.key !== key) {
    document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }
}

async function beginThread(message) {
  const asked = await openThreadDialog(message, state.channel.type === 15);
  if (asked === null) return;
  const made = await act("thread", { channel: state.channel.id, message: message?.id, ...asked });
  if (made !== null) await open(made.id);
}

function toggleMenu(to = !document.body.classList.contains("menu-open")) {
  document.body.classList.toggle("menu-open", to);
  byId("menu").setAttribute("aria-expanded", String(to));
}

start().catch((/** @type {unknown} */ error) => toast(String(error)));
