import { act, allChannels, everybody, state } from "./api.js";
import { byId, el, fill, filesForServer } from "./dom.js";
import { markdown } from "./markdown.js";

/** Shows a form; answers what came of it, or null when it was closed. */
export function openModal({ interaction_id, modal }) {
  const dialog = byId("modal");
  const fields = [];
  return new Promise((resolve) => {
    const form = el(
      "form",
      { method: "dialog" },
      el("header", { className: "modal-head" }, el("h2", { id: "modal-title" }, modal.title), closeButton(dialog)),
      el(
        "div",
        { className: "modal-body" },
        modal.components.map((part) => topPart(part, fields)),
      ),
      el(
        "footer",
        { className: "modal-foot" },
        el("button", { className: "button secondary", type: "button", onclick: () => dialog.close() }, "Cancel"),
        el("button", { className: "button primary", type: "submit" }, "Submit"),
      ),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const pairs = await Promise.all(fields.map(async (field) => [field.custom_id, await field.value()]));
      const values = Object.fromEntries(pairs.filter(([, value]) => value !== null));
      const answer = await act("submit", { interaction_id, values });
      if (answer === null) return;
      resolve(answer);
      dialog.close();
    });
    dialog.addEventListener("close", () => resolve(null), { once: true });
    dialog.setAttribute("aria-labelledby", "modal-title");
    fill(dialog, form);
    dialog.showModal();
    form.querySelector("textarea, input, select")?.focus();
  });
}

function closeButton(dialog) {
  return el(
    "button",
    { className: "icon-button", type: "button", "aria-label": "Close", onclick: () => dialog.close() },
    "✕",
  );
}

function topPart(part, fields) {
  if (part.type === 10) return el("div", { className: "text" }, markdown(part.content));
  if (part.type === 18) return labelled(part.label, part.description, part.component, fields);
  return (part.components ?? []).map((child) => labelled(child.label, null, child, fields));
}

function labelled(label, description, part, fields) {
  const control = controlFor(part);
  fields.push({ custom_id: part.custom_id, value: control.value });
  const mark = part.required === false || part.type === 23 ? "" : " *";
  const id = `field-${fields.length}`;
  control.input.id = id;
  const isGroup = control.input.tagName === "DIV";
  return el(
    isGroup ? "fieldset" : "div",
    { className: "field" },
    el(isGroup ? "legend" : "label", isGroup ? {} : { for: id }, `${label}${mark}`),
    description ? el("p", { className: "hint" }, description) : null,
    control.input,
  );
}

function controlFor(part) {
  const required = part.required !== false;
  switch (part.type) {
    case 4:
      return textControl(part, required);
    case 19: {
      const input = el("input", { type: "file", multiple: (part.max_values ?? 1) > 1, required });
      return { input, value: () => filesForServer(input.files) };
    }
    case 21:
      return groupControl(part, "radio");
    case 22:
      return groupControl(part, "checkbox");
    case 23: {
      const input = el("input", { type: "checkbox", defaultChecked: part.default === true });
      return { input, value: async () => input.checked };
    }
    default:
      return selectControl(part, required);
  }
}

function textControl(part, required) {
  const input = el(part.style === 2 ? "textarea" : "input", {
    value: part.value ?? "",
    placeholder: part.placeholder ?? "",
    required,
    maxLength: part.max_length ?? 4000,
    minLength: part.min_length ?? 0,
  });
  if (part.style === 2) input.rows = 5;
  return { input, value: async () => input.value };
}

function groupControl(part, type) {
  const inputs = part.options.map((option) =>
    el("input", { type, name: part.custom_id, value: option.value, defaultChecked: option.default === true }),
  );
  const lines = inputs.map((input, index) => el("label", { className: "choice" }, input, part.options[index].label));
  const chosen = () => inputs.filter((input) => input.checked).map((input) => input.value);
  return {
    input: el("div", { className: "choices" }, lines),
    value: async () => (type === "radio" ? (chosen()[0] ?? null) : chosen()),
  };
}

function selectControl(part, required) {
  const sources = { 5: everybody(), 6: state.roles, 7: [...everybody(), ...state.roles], 8: allChannels() };
  const options = part.options ?? sources[part.type].map((thing) => ({ label: thing.name, value: thing.id }));
  const many = (part.max_values ?? 1) > 1;
  const input = el(
    "select",
    { multiple: many, required },
    many ? null : el("option", { value: "" }, part.placeholder ?? "Choose…"),
    options.map((option) =>
      el("option", { value: option.value, defaultSelected: option.default === true }, option.label),
    ),
  );
  return { input, value: async () => [...input.selectedOptions].map((one) => one.value).filter((one) => one !== "") };
}

/** Asks for the name of a thread, and for the first message of a post; null when closed. */
export function openThreadDialog(message, isPost) {
  const dialog = byId("modal");
  const name = el("input", {
    id: "thread-name",
    required: true,
    maxLength: 100,
    value: message?.content.split("\n")[0].slice(0, 100) ?? "",
  });
  const content = el("textarea", { id: "thread-content", rows: 4, required: isPost, maxLength: 2000 });
  return new Promise((resolve) => {
    const form = el(
      "form",
      { method: "dialog" },
      el(
        "header",
        { className: "modal-head" },
        el("h2", { id: "modal-title" }, isPost ? "New post" : "New thread"),
        closeButton(dialog),
      ),
      el(
        "div",
        { className: "modal-body" },
        el("div", { className: "field" }, el("label", { for: "thread-name" }, "Name *"), name),
        el(
          "div",
          { className: "field" },
          el("label", { for: "thread-content" }, `First message${isPost ? " *" : ""}`),
          content,
        ),
      ),
      el("footer", { className: "modal-foot" }, el("button", { className: "button primary", type: "submit" }, "Begin")),
    );
    form.addEventListener("submit", () => resolve({ name: name.value, content: content.value }));
    dialog.addEventListener("close", () => resolve(null), { once: true });
    dialog.setAttribute("aria-labelledby", "modal-title");
    fill(dialog, form);
    dialog.showModal();
    name.focus();
  });
}
