import { act, allChannels, everybody, state } from "./api.js";
import { el, fileSize, toast } from "./dom.js";
import { markdown } from "./markdown.js";
import { openModal } from "./modal.js";

const STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "link" };
const PICTURE = /^image\//;

/** A component and what is in it. Unknown types are left out. */
export function component(message, part) {
  const make = MAKERS[part.type];
  return make === undefined ? null : make(message, part);
}

const MAKERS = {
  1: (message, part) => el("div", { className: "row" }, children(message, part)),
  2: button,
  3: (message, part) => select(message, part, part.options),
  5: (message, part) => select(message, part, everybody().map(named)),
  6: (message, part) => select(message, part, state.roles.map(named)),
  7: (message, part) => select(message, part, [...everybody(), ...state.roles].map(named)),
  8: (message, part) => select(message, part, allChannels().map(named)),
  9: (message, part) =>
    el(
      "div",
      { className: "section" },
      el("div", { className: "section-text" }, children(message, part)),
      component(message, part.accessory),
    ),
  10: (_message, part) => el("div", { className: "text" }, markdown(part.content)),
  11: (_message, part) => picture(part.media, part.description, "thumbnail"),
  12: (_message, part) =>
    el(
      "div",
      { className: "gallery" },
      part.items.map((item) => picture(item.media, item.description, "picture")),
    ),
  13: (_message, part) => fileCard(part.name ?? "file", part.size ?? 0, part.file.url),
  14: (_message, part) =>
    el("hr", { className: `separator${part.divider === false ? " bare" : ""}${part.spacing === 2 ? " wide" : ""}` }),
  17: container,
};

function children(message, part) {
  return part.components.map((child) => component(message, child));
}

function container(message, part) {
  const box = el("div", { className: "container" }, children(message, part));
  if (typeof part.accent_color === "number") {
    box.style.setProperty("--bar", `#${part.accent_color.toString(16).padStart(6, "0")}`);
  }
  return box;
}

function button(message, part) {
  const label = [part.emoji?.name, part.label].filter(Boolean).join(" ");
  if (part.style === 5) {
    return el(
      "a",
      { className: "button link", href: part.url, target: "_blank", rel: "noopener noreferrer" },
      `${label} ↗`,
    );
  }
  return el(
    "button",
    {
      className: `button ${STYLES[part.style] ?? "secondary"}`,
      type: "button",
      disabled: part.disabled === true,
      "data-key": `${message.id}:${part.custom_id}`,
      onclick: (event) => press(event.currentTarget, message, part.custom_id),
    },
    label,
  );
}

async function press(element, message, customId) {
  element.setAttribute("aria-busy", "true");
  const answer = await act("press", { message: message.id, custom_id: customId });
  element.removeAttribute("aria-busy");
  await showAnswer(answer);
}

/** Opens a form or says that nothing came; everything else arrives as a message. */
export async function showAnswer(answer) {
  if (answer?.outcome === "failed") toast(answer.text);
  if (answer?.outcome === "modal") await showAnswer(await openModal(answer));
}

function select(message, part, options) {
  const many = (part.max_values ?? 1) > 1;
  const chosen = el(
    "select",
    {
      className: "select",
      multiple: many,
      disabled: part.disabled === true,
      "aria-label": part.placeholder ?? "Choose",
      "data-key": `${message.id}:${part.custom_id}`,
    },
    many
      ? null
      : el("option", { value: "", disabled: true, selected: true, hidden: true }, part.placeholder ?? "Choose…"),
    options.map((option) => optionElement(option)),
  );
  const send = async () => {
    const values = [...chosen.selectedOptions].map((option) => option.value).filter((value) => value !== "");
    await showAnswer(await act("select", { message: message.id, custom_id: part.custom_id, values }));
  };
  if (!many) {
    chosen.addEventListener("change", send);
    return chosen;
  }
  chosen.size = Math.min(6, options.length);
  return el(
    "div",
    { className: "select-many" },
    chosen,
    el("button", { className: "button secondary", type: "button", onclick: send }, "Choose"),
  );
}

/** An option with its description behind the label. */
export function optionElement(option) {
  const text = option.description ? `${option.label} — ${option.description}` : option.label;
  return el("option", { value: option.value, defaultSelected: option.default === true }, text);
}

/** A person, role or channel as an option. */
export function named(thing) {
  return { label: thing.name || "this conversation", value: thing.id };
}

/** A file with its size, to save. */
export function fileCard(name, size, url) {
  return el(
    "a",
    { className: "file", href: localLink(url), download: name, target: "_blank", rel: "noopener" },
    el("span", { className: "file-icon", "aria-hidden": "true" }, "▤"),
    el("span", { className: "file-name" }, name),
    el("span", { className: "file-size" }, fileSize(size)),
  );
}

/** An attachment: a picture in place, anything else as a file. */
export function attachment(file) {
  if (PICTURE.test(file.content_type ?? "") && file.width) {
    return picture(file, file.description ?? file.filename, "picture");
  }
  return fileCard(file.filename, file.size, file.url);
}

// Pictures from elsewhere are not loaded: the page talks to this machine alone.
function picture(media, description, className) {
  const link = localLink(media.url);
  if (!link.startsWith("/")) {
    return el("a", { className: "file", href: media.url, rel: "noopener noreferrer", target: "_blank" }, media.url);
  }
  return el("img", { className, src: link, alt: description ?? "", loading: "lazy" });
}

/** A link to this server without its origin, which may be named differently in the browser. */
function localLink(url) {
  const parsed = new URL(url, location.href);
  return parsed.pathname.startsWith("/cdn/") ? parsed.pathname + parsed.search : url;
}
