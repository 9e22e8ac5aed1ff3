import { act, everybody, state } from "./api.js";
import { commandForm, commandList } from "./command.js";
import { byId, el, fill, filesForServer } from "./dom.js";

const TYPING_EVERY_MS = 8000;

let reply = null;
let editing = null;
let files = [];
let typedAt = 0;
let suggestions = [];
let chosen = 0;

const input = el("textarea", {
  id: "input",
  rows: 1,
  maxLength: 2000,
  "aria-label": "Message",
  "aria-autocomplete": "list",
  "aria-controls": "suggestions",
  oninput: onInput,
  onkeydown: onKey,
  onpaste: (event) => addFiles(event.clipboardData.files),
});
const picker = el("input", { type: "file", multiple: true, hidden: true, onchange: () => addFiles(picker.files) });
const context = el("div", { className: "composer-context" });
const commandPlace = el("div");
const list = el("div", { className: "suggestions", id: "suggestions", role: "listbox", hidden: true });
const send = el(
  "button",
  { className: "icon-button send", type: "button", "aria-label": "Send", onclick: submit },
  "➤",
);
const attach = el(
  "button",
  { className: "icon-button", type: "button", "aria-label": "Attach files", onclick: () => picker.click() },
  "+",
);
const bar = el("div", { className: "composer-bar" }, attach, input, picker, send);
const closed = el("p", { className: "closed" });

/** Puts the composer in its place; call once. */
export function startComposer() {
  fill(byId("composer"), list, context, commandPlace, bar, closed);
}

/** Follows the open channel: where, whether one may write, as whom. */
export function drawComposer() {
  const { channel } = state;
  const me = state.people.find((person) => person.id === state.me);
  // A command that is being filled in stands in the place of the text.
  bar.hidden = channel.closed !== null || commandPlace.hasChildNodes();
  closed.hidden = channel.closed === null;
  closed.textContent = channel.closed ?? "";
  input.placeholder = `${me.name} to ${channel.type === 1 ? state.bot.name : channel.name}`;
  drawContext();
}

/** Forgets what was begun: another channel or person. */
export function resetComposer() {
  reply = null;
  editing = null;
  files = [];
  closeSuggestions();
  commandPlace.replaceChildren();
  bar.hidden = false;
  input.value = "";
  fit();
}

export function replyTo(message) {
  editing = null;
  reply = message;
  drawContext();
  input.focus();
}

export function editMessage(message) {
  reply = null;
  editing = message;
  input.value = message.content.replaceAll(/<@!?(\d+)>/g, (whole, id) => {
    const user = everybody().find((one) => one.id === id);
    return user ? `@${user.name}` : whole;
  });
  fit();
  drawContext();
  input.focus();
}

function drawContext() {
  const drop = (run) =>
    el("button", { className: "icon-button", type: "button", "aria-label": "Remove", onclick: run }, "✕");
  const chip = (text, run) => el("p", { className: "chip" }, el("span", {}, text), drop(run));
  const leave = () => {
    if (editing !== null) input.value = "";
    reply = null;
    editing = null;
    drawContext();
  };
  fill(
    context,
    reply ? chip(`Replying to ${reply.name}`, leave) : null,
    editing ? chip("Editing your message", leave) : null,
    files.map((file) =>
      chip(file.name, () => {
        files = files.filter((one) => one !== file);
        drawContext();
      }),
    ),
  );
}

function addFiles(more) {
  files = [...files, ...more].slice(0, 10);
  picker.value = "";
  drawContext();
}

async function submit() {
  const content = withMentions(input.value.trim());
  if ((content === "" && files.length === 0) || state.channel === null) return;
  const sent = editing
    ? await act("edit", { message: editing.id, content })
    : await act("say", {
        channel: state.channel.id,
        content,
        reply_to: reply?.id,
        attachments: await filesForServer(files),
      });
  if (sent === null) return;
  resetComposer();
  drawContext();
  input.focus();
}

/** `@Name` as people write it becomes a mention; longer names first, so that `@Ada Lovelace` is not `@Ada`. */
function withMentions(text) {
  const names = everybody().flatMap((user) => [
    [user.name, user.id],
    [user.username, user.id],
  ]);
  names.sort((a, b) => b[0].length - a[0].length);
  return names.reduce((done, [name, id]) => {
    const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return done.replaceAll(new RegExp(`(?<!\\w|<)@${escaped}(?!\\w)`, "gi"), `<@${id}>`);
  }, text);
}

function onInput() {
  fit();
  if (
    state.channel !== null &&
    input.value !== "" &&
    !input.value.startsWith("/") &&
    Date.now() - typedAt > TYPING_EVERY_MS
  ) {
    typedAt = Date.now();
    void act("type", { channel: state.channel.id });
  }
  suggest();
}

function fit() {
  input.style.height = "auto";
  input.style.height = `${Math.min(input.scrollHeight, 200)}px`;
}

function suggest() {
  const text = input.value.slice(0, input.selectionStart);
  const at = /(?:^|\s)@(\w*)$/.exec(text);
  if (/^\/[^\n]*$/.test(text)) {
    suggestions = commandList(text.slice(1)).map((one) => ({ ...one, run: () => begin(one) }));
  } else if (at !== null) {
    suggestions = peopleLike(at[1]).map((user) => ({
      label: `@${user.name}`,
      hint: user.bot ? "app" : user.role,
      run: () => complete(at[1], user),
    }));
  } else suggestions = [];
  chosen = 0;
  drawSuggestions();
}

function peopleLike(start) {
  return everybody().filter((user) => user.name.toLowerCase().startsWith(start.toLowerCase()));
}

function complete(start, user) {
  const at = input.selectionStart;
  input.setRangeText(`${user.name} `, at - start.length, at, "end");
  closeSuggestions();
  input.focus();
}

function begin(command) {
  input.value = "";
  closeSuggestions();
  bar.hidden = true;
  commandForm(commandPlace, command, () => {
    commandPlace.replaceChildren();
    drawComposer();
    input.focus();
  });
}

function closeSuggestions() {
  suggestions = [];
  drawSuggestions();
}

function drawSuggestions() {
  list.hidden = suggestions.length === 0;
  fill(
    list,
    suggestions.map((one, index) =>
      el(
        "button",
        {
          type: "button",
          role: "option",
          id: `suggestion-${index}`,
          className: "suggestion",
          tabIndex: -1,
          "aria-selected": index === chosen,
          onclick: one.run,
        },
        el("strong", {}, one.label),
        el("span", {}, one.hint ?? ""),
      ),
    ),
  );
  if (suggestions.length > 0) input.setAttribute("aria-activedescendant", `suggestion-${chosen}`);
  else input.removeAttribute("aria-activedescendant");
  list.children[chosen]?.scrollIntoView({ block: "nearest" });
}

const SUGGESTION_KEYS = new Set(["ArrowDown", "ArrowUp", "Tab", "Enter", "Escape"]);

function moveInSuggestions(key) {
  if (key === "Escape") closeSuggestions();
  else if (key === "Enter" || key === "Tab") suggestions[chosen].run();
  else {
    chosen = (chosen + (key === "ArrowDown" ? 1 : suggestions.length - 1)) % suggestions.length;
    drawSuggestions();
  }
}

function onKey(event) {
  if (event.isComposing) return;
  if (suggestions.length > 0 && SUGGESTION_KEYS.has(event.key)) {
    event.preventDefault();
    moveInSuggestions(event.key);
    return;
  }
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    void submit();
  }
  if (event.key === "Escape" && (reply !== null || editing !== null)) {
    resetComposer();
    drawContext();
  }
}
