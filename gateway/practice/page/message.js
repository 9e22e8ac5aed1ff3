import { act, state } from "./api.js";
import { attachment, component, showAnswer } from "./components.js";
import { clockTime, el } from "./dom.js";
import { markdown } from "./markdown.js";

const GROUP_MS = 5 * 60_000;
const FLAG_LOADING = 1 << 7;
const TYPE_THREAD_CREATED = 18;
const TYPE_STARTER = 21;

/** What a message can have done to it by the page around it. */
let hooks = { onReply() {}, onOpen() {}, onEdit() {}, onThread() {} };

export function setMessageHooks(given) {
  hooks = given;
}

/** Whether a message goes below the one before without its author's name again. */
export function continues(before, message) {
  return (
    before !== undefined &&
    before.author.id === message.author.id &&
    before.ephemeral === message.ephemeral &&
    message.type === 0 &&
    before.type !== TYPE_THREAD_CREATED &&
    !message.message_reference &&
    Date.parse(message.timestamp) - Date.parse(before.timestamp) < GROUP_MS
  );
}

/** One message as an article. */
export function messageElement(message, grouped) {
  if (message.type === TYPE_THREAD_CREATED || message.type === TYPE_STARTER) return systemLine(message);
  const mentionsMe = message.mention_everyone || message.mentions.some((user) => user.id === state.me);
  const classes = ["message", grouped && "grouped", message.ephemeral && "ephemeral", mentionsMe && "for-me"];
  return el(
    "article",
    {
      className: classes.filter(Boolean).join(" "),
      "data-id": message.id,
      "aria-label": `${message.name}, ${clockTime(message.timestamp)}`,
      // A tap shows what can be done with the message, as hovering does where there is a mouse.
      tabIndex: -1,
    },
    quote(message),
    el(
      "div",
      { className: "message-grid" },
      grouped ? el("span", { className: "gutter-time" }, clockTime(message.timestamp)) : avatar(message),
      el("div", { className: "message-body" }, grouped ? null : head(message), body(message)),
    ),
    tools(message),
  );
}

function systemLine(message) {
  const target = message.message_reference?.channel_id;
  const open = (text) =>
    el("button", { className: "text-button", type: "button", onclick: () => hooks.onOpen(target) }, text);
  if (message.type === TYPE_THREAD_CREATED) {
    return el(
      "p",
      { className: "system", "data-id": message.id },
      `${message.name} began a thread: `,
      open(message.content),
    );
  }
  const first = message.referenced_message;
  return el(
    "div",
    { className: "starter", "data-id": message.id },
    el(
      "p",
      { className: "small" },
      first ? `${nameOf(first.author)} began with` : "The first message was deleted",
      " · ",
      open("where it was said"),
    ),
    first ? el("div", { className: "text" }, markdown(first.content || "(no text)")) : null,
  );
}

function avatar(message) {
  const user = [...state.people, state.bot].find((one) => one.id === message.author.id);
  return user === undefined
    ? el("span", { className: "avatar", "aria-hidden": "true" }, "⚙")
    : el("img", { className: "avatar", src: user.avatar, alt: "" });
}

function head(message) {
  return el(
    "header",
    { className: "message-head" },
    el("strong", { className: "name" }, message.name),
    message.author.bot
      ? el("span", { className: "badge" }, message.webhook_id && !message.interaction_metadata ? "WEBHOOK" : "APP")
      : null,
    el("time", { dateTime: message.timestamp }, clockTime(message.timestamp)),
  );
}

function quote(message) {
  if (message.type !== 19) return commandLine(message);
  const target = message.referenced_message;
  const text = target
    ? [`${nameOf(target.author)}: `, markdown(target.content.split("\n", 1)[0] || "a message without text")]
    : "a deleted message";
  return el("div", { className: "quote" }, "↱ ", text);
}

function commandLine(message) {
  const metadata = message.interaction_metadata;
  if (metadata?.type !== 2 || message.type !== 20) return null;
  return el(
    "p",
    { className: "quote" },
    "↱ ",
    `${nameOf(metadata.user)} used `,
    el("span", { className: "mention" }, `/${metadata.name ?? "a command"}`),
  );
}

function nameOf(user) {
  return user?.global_name ?? user?.username ?? "somebody";
}

function body(message) {
  if ((message.flags & FLAG_LOADING) !== 0) {
    return el(
      "p",
      { className: "thinking" },
      `${message.name} is thinking`,
      el("span", { className: "dots", "aria-hidden": "true" }),
    );
  }
  const shown = message.components.flatMap(filesIn);
  return [
    message.content === "" ? null : el("div", { className: "text" }, markdown(message.content)),
    (message.message_snapshots ?? []).map(({ message: inner }) =>
      el(
        "div",
        { className: "forward" },
        el("small", { className: "small" }, "↪ forwarded"),
        el("div", { className: "text" }, markdown(inner.content)),
      ),
    ),
    message.embeds.map(embed),
    (message.sticker_items ?? []).map((sticker) => el("p", { className: "sticker" }, `sticker: ${sticker.name}`)),
    message.poll ? el("p", { className: "sticker" }, `poll: ${message.poll.question.text}`) : null,
    // What a card shows itself does not hang below it once more.
    message.attachments.filter((file) => !shown.includes(file.id)).map(attachment),
    message.components.map((part) => component(message, part)),
    message.edited_timestamp
      ? el("small", { className: "edited", title: clockTime(message.edited_timestamp) }, "(edited)")
      : null,
    (message.reactions ?? []).length > 0 ? reactions(message) : null,
    message.thread ? threadChip(message.thread) : null,
    message.ephemeral ? onlyYou(message) : null,
  ];
}

function filesIn(part) {
  const media = [part.file, part.media, ...(part.items ?? []).map((item) => item.media)];
  const own = media.flatMap((one) => one?.attachment_id ?? []);
  return [...own, ...(part.components ?? []).flatMap(filesIn), ...(part.accessory ? filesIn(part.accessory) : [])];
}

function embed(given) {
  const box = el(
    "div",
    { className: "embed" },
    given.author ? el("small", { className: "small" }, given.author.name) : null,
    given.title ? el("strong", {}, markdown(given.title)) : null,
    given.description ? el("div", { className: "text" }, markdown(given.description)) : null,
    (given.fields ?? []).map((field) =>
      el("div", { className: "embed-field" }, el("strong", {}, field.name), el("div", {}, markdown(field.value))),
    ),
    given.footer ? el("small", { className: "small" }, given.footer.text) : null,
  );
  if (typeof given.color === "number") box.style.setProperty("--bar", `#${given.color.toString(16).padStart(6, "0")}`);
  return box;
}

function reactions(message) {
  return el(
    "div",
    { className: "reactions" },
    message.reactions.map((one) =>
      el(
        "button",
        {
          className: "reaction",
          type: "button",
          onclick: () => act("react", { message: message.id, emoji: one.emoji.name }),
        },
        `${one.emoji.name} ${one.count}`,
      ),
    ),
  );
}

function threadChip(thread) {
  const count = thread.message_count === 1 ? "1 message" : `${thread.message_count} messages`;
  return el(
    "button",
    { className: "thread-chip", type: "button", onclick: () => hooks.onOpen(thread.id) },
    el("strong", {}, thread.name),
    el("span", {}, `${count} ›`),
  );
}

function onlyYou(message) {
  return el(
    "p",
    { className: "only-you" },
    "Only you can see this · ",
    el(
      "button",
      { className: "text-button", type: "button", onclick: () => act("remove", { message: message.id }) },
      "dismiss",
    ),
  );
}

function tools(message) {
  if (message.ephemeral) return null;
  const own = message.author.id === state.me;
  const close = (event) => event.currentTarget.closest("details").removeAttribute("open");
  const item = (label, run) =>
    el(
      "button",
      {
        type: "button",
        className: "menu-item",
        onclick: (event) => {
          close(event);
          run();
        },
      },
      label,
    );
  const commands = (state.channel?.commands ?? []).filter((command) => command.type === 3);
  const canThread = [0, 5].includes(state.channel?.type) && !message.thread;
  return el(
    "div",
    { className: "tools" },
    el(
      "button",
      {
        className: "icon-button",
        type: "button",
        "aria-label": "Reply",
        title: "Reply",
        onclick: () => hooks.onReply(message),
      },
      "↩",
    ),
    el(
      "details",
      { className: "more", ontoggle: (event) => turnMenu(event.currentTarget) },
      el("summary", { className: "icon-button", "aria-label": "More", title: "More" }, "⋯"),
      el(
        "div",
        { className: "menu" },
        own ? item("Edit", () => hooks.onEdit(message)) : null,
        canThread ? item("Begin a thread", () => hooks.onThread(message)) : null,
        item("React with 👍", () => act("react", { message: message.id, emoji: "👍" })),
        commands.map((command) =>
          item(command.name, async () =>
            showAnswer(await act("message_command", { message: message.id, name: command.name })),
          ),
        ),
        own ? item("Delete", () => act("remove", { message: message.id })) : null,
      ),
    ),
  );
}

/** A menu near the end of the list opens upwards, where it can be seen. */
function turnMenu(details) {
  const menu = details.querySelector(".menu");
  menu.classList.remove("up");
  const room = details.closest(".messages").getBoundingClientRect().bottom;
  if (menu.getBoundingClientRect().bottom > room) menu.classList.add("up");
}

/** Closes the menus of messages, but for the one that holds this element. */
export function closeMessageMenus(inside) {
  for (const details of document.querySelectorAll(".more[open]")) {
    if (!details.contains(inside)) details.removeAttribute("open");
  }
}
