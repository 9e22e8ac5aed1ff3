import { allChannels, everybody, state } from "./api.js";
import { el } from "./dom.js";

/** Discord's markdown as nodes. Only nodes are made, never markup, so a text cannot bring its own elements. */
export function markdown(text) {
  const parts = text.split(/(```[\s\S]*?```)/g);
  return parts.flatMap((part) => {
    if (part.startsWith("```") && part.length >= 6 && part.endsWith("```")) return [codeBlock(part.slice(3, -3))];
    return part === "" ? [] : blocks(part.replace(/^\n/, ""));
  });
}

function codeBlock(body) {
  const match = /^([\w+#.-]+)\n/.exec(body);
  const code = match === null ? body : body.slice(match[0].length);
  const pre = el("pre", { tabIndex: 0 }, el("code", {}, code.replace(/^\n/, "").replace(/\n$/, "")));
  return match === null
    ? pre
    : el("div", { className: "code" }, el("span", { className: "code-language" }, match[1]), pre);
}

const LINE_KINDS = [
  { test: /^(#{1,3}) (.*)$/, make: (match) => el(`h${match[1].length + 2}`, {}, inline(match[2])) },
  { test: /^-# (.*)$/, make: (match) => el("small", { className: "small" }, inline(match[1])) },
  { test: /^> ?(.*)$/, make: (match) => el("blockquote", {}, inline(match[1])) },
  { test: /^( *)[-*] (.*)$/, make: (match) => listLine(match[1], "•", match[2]) },
  { test: /^( *)(\d+)\. (.*)$/, make: (match) => listLine(match[1], `${match[2]}.`, match[3]) },
];

function blocks(text) {
  const made = [];
  let plain = [];
  const flush = () => {
    if (plain.length > 0) made.push(el("span", { className: "line" }, inline(plain.join("\n"))));
    plain = [];
  };
  for (const line of text.split("\n")) {
    const kind = LINE_KINDS.find((one) => one.test.test(line));
    if (kind === undefined) {
      plain.push(line);
      continue;
    }
    flush();
    made.push(kind.make(kind.test.exec(line)));
  }
  flush();
  return made;
}

function listLine(indent, mark, text) {
  const line = el(
    "div",
    { className: "item" },
    el("span", { className: "item-mark" }, mark),
    el("span", {}, inline(text)),
  );
  if (indent.length > 1) line.classList.add("item-inner");
  return line;
}

const SPANS = [
  { test: /\\([^\p{L}\p{N}\s])/u, make: (match) => match[1] },
  { test: /(`{1,2})([\s\S]+?)\1(?!`)/, make: (match) => el("code", {}, match[2]) },
  { test: /<(https?:\/\/[^\s>]+)>/, make: (match) => link(match[1], match[1]) },
  { test: /\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/, make: (match) => link(match[2], match[1]) },
  { test: /https?:\/\/[^\s<>"')\]]+/, make: (match) => link(match[0], match[0]) },
  { test: /<@!?(\d+)>/, make: (match) => mention(`@${nameOf(match[1])}`, match[1] === state.me) },
  {
    test: /<@&(\d+)>/,
    make: (match) => mention(`@${state.roles.find((role) => role.id === match[1])?.name ?? "role"}`, false),
  },
  { test: /<#(\d+)>/, make: (match) => mention(`#${channelName(match[1])}`, false) },
  { test: /<t:(-?\d+)(?::([tTdDfFR]))?>/, make: (match) => time(match[1], match[2]) },
  { test: /@(everyone|here)\b/, make: (match) => mention(match[0], true) },
  { test: /\*\*\*([\s\S]+?)\*\*\*/, make: (match) => el("strong", {}, el("em", {}, inline(match[1]))) },
  { test: /\*\*([\s\S]+?)\*\*(?!\*)/, make: (match) => el("strong", {}, inline(match[1])) },
  { test: /__([\s\S]+?)__/, make: (match) => el("u", {}, inline(match[1])) },
  { test: /~~([\s\S]+?)~~/, make: (match) => el("s", {}, inline(match[1])) },
  { test: /\|\|([\s\S]+?)\|\|/, make: (match) => spoiler(match[1]) },
  { test: /\*(?!\s)([^*\n]+?)\*/, make: (match) => el("em", {}, inline(match[1])) },
  { test: /(?<!\w)_(?!\s)([^_\n]+?)_(?!\w)/, make: (match) => el("em", {}, inline(match[1])) },
];

/** The earliest span wins; of two that begin together, the one that is higher in the table. */
function inline(text) {
  const nodes = [];
  let rest = text;
  while (rest !== "") {
    let first = null;
    for (const span of SPANS) {
      const match = span.test.exec(rest);
      if (match !== null && (first === null || match.index < first.match.index)) first = { match, span };
    }
    if (first === null) break;
    if (first.match.index > 0) nodes.push(rest.slice(0, first.match.index));
    nodes.push(first.span.make(first.match));
    rest = rest.slice(first.match.index + first.match[0].length);
  }
  if (rest !== "") nodes.push(rest);
  return nodes;
}

function link(href, text) {
  return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, text);
}

function mention(text, forMe) {
  return el("span", { className: forMe ? "mention mention-me" : "mention" }, text);
}

function spoiler(text) {
  const reveal = (event) => event.currentTarget.classList.add("shown");
  return el("button", { className: "spoiler", type: "button", onclick: reveal }, inline(text));
}

/** How Discord shows each style of a time; without one it is `f`. */
const TIME_STYLES = {
  t: { timeStyle: "short" },
  T: { timeStyle: "medium" },
  d: { dateStyle: "short" },
  D: { dateStyle: "long" },
  f: { dateStyle: "long", timeStyle: "short" },
  F: { dateStyle: "full", timeStyle: "short" },
};

function time(seconds, style = "f") {
  const at = new Date(Number(seconds) * 1000);
  const properties = { dateTime: at.toISOString(), title: at.toLocaleString() };
  if (style !== "R") return el("time", properties, at.toLocaleString(undefined, TIME_STYLES[style]));
  return el("time", { ...properties, className: "relative" }, relative(at));
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** Lets times such as "2 minutes ago" go on. */
export function refreshTimes() {
  for (const shown of document.querySelectorAll("time.relative")) {
    shown.textContent = relative(new Date(shown.dateTime));
  }
}

function relative(at) {
  const away = at.getTime() - Date.now();
  const [unit, length] = UNITS.find(([, size]) => Math.abs(away) >= size) ?? ["second", 1000];
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.round(away / length), unit);
}

function nameOf(id) {
  return everybody().find((user) => user.id === id)?.name ?? "somebody";
}

function channelName(id) {
  return allChannels().find((channel) => channel?.id === id)?.name ?? "channel";
}
