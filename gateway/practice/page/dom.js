/**
 * An element with properties and children. Texts become text nodes, so nothing that somebody wrote is read as markup.
 * `on…` are listeners, `aria-…`, `data-…` and `role` attributes, everything else properties. Null children are left
 * out.
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, String(value));
    else element[name] = value;
  }
  append(element, children);
  return element;
}

/** Adds children, however they are nested. */
export function append(element, children) {
  for (const child of [children].flat(Infinity)) if (child !== null && child !== undefined) element.append(child);
}

/** Puts these children in the place of all there are. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** The element with this id; the page's own, so it is always there. */
export function byId(id) {
  return document.getElementById(id);
}

/** A short message at the bottom that goes by itself. */
export function toast(text) {
  const TOAST_MS = 6000;
  const note = el("p", { className: "toast" }, text);
  byId("toasts").append(note);
  setTimeout(() => note.remove(), TOAST_MS);
}

/** `12:07` today, with the date before it on other days. */
export function clockTime(iso) {
  const at = new Date(iso);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString()} ${time}`;
}

/** `3.4 KB`. */
export function fileSize(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const kilobytes = bytes / 1024;
  return kilobytes < 1024 ? `${kilobytes.toFixed(1)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}

/** Files as the server takes them. */
export async function filesForServer(files) {
  return Promise.all(
    [...files].map(async (file) => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let binary = "";
      for (let at = 0; at < bytes.length; at += 32768) binary += String.fromCharCode(...bytes.subarray(at, at + 32768));
      return { filename: file.name, base64: btoa(binary) };
    }),
  );
}
