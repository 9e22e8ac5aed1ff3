import { act, allChannels, everybody, state } from "./api.js";
import { named, optionElement, showAnswer } from "./components.js";
import { el, fill, filesForServer } from "./dom.js";

const TYPE = {
  subcommand: 1,
  group: 2,
  integer: 4,
  boolean: 5,
  user: 6,
  channel: 7,
  role: 8,
  number: 10,
  attachment: 11,
};

/** Slash commands whose name begins so, subcommands as lines of their own. */
export function commandList(start) {
  return state.channel.commands
    .filter((command) => command.type === 1)
    .flatMap((command) => leaves(command.name, command))
    .filter((one) => one.name.startsWith(start.toLowerCase()))
    .slice(0, 25);
}

function leaves(name, command) {
  const nested = (command.options ?? []).filter(
    (option) => option.type === TYPE.subcommand || option.type === TYPE.group,
  );
  if (nested.length > 0) return nested.flatMap((option) => leaves(`${name} ${option.name}`, option));
  return [{ name, label: `/${name}`, hint: command.description, options: command.options ?? [] }];
}

/** Asks for the options of a command in the given place, then runs it. `onDone` also follows a cancel. */
export function commandForm(place, command, onDone) {
  const fields = command.options.map((option) => ({ option, ...controlFor(command, option, () => fields) }));
  const form = el(
    "form",
    { className: "command" },
    el("p", { className: "command-name" }, el("strong", {}, `/${command.name}`), ` ${command.hint ?? ""}`),
    fields.map(({ option, input, extra }) =>
      el(
        "label",
        { className: "command-field", title: option.description },
        el("span", {}, `${option.name}${option.required ? " *" : ""}`),
        input,
        extra,
      ),
    ),
    el(
      "div",
      { className: "row" },
      el("button", { className: "button primary", type: "submit" }, "Run"),
      el("button", { className: "button secondary", type: "button", onclick: onDone }, "Cancel"),
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const options = await valuesOf(fields);
    const answer = await act("slash", { channel: state.channel.id, name: command.name, options });
    if (answer === null) return;
    onDone();
    await showAnswer(answer);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") onDone();
  });
  fill(place, form);
  (form.querySelector("input, select, textarea") ?? form.querySelector("button")).focus();
}

async function valuesOf(fields) {
  const pairs = await Promise.all(fields.map(async ({ option, value }) => [option.name, await value()]));
  return Object.fromEntries(pairs.filter(([, value]) => value !== null && value !== ""));
}

function controlFor(command, option, fields) {
  const required = option.required === true;
  if (option.type === TYPE.attachment) {
    const input = el("input", { type: "file", required });
    return { input, value: async () => (await filesForServer(input.files))[0] ?? null };
  }
  if (option.type === TYPE.boolean) {
    const input = el("input", { type: "checkbox" });
    return { input, value: async () => input.checked };
  }
  const choices = choicesFor(option);
  if (choices !== null) {
    const input = el("select", { required }, el("option", { value: "" }, "—"), choices.map(optionElement));
    return { input, value: async () => typed(option, input.value) };
  }
  const input = el(option.type === TYPE.integer || option.type === TYPE.number ? "input" : "textarea", {
    required,
    rows: 1,
  });
  if (option.max_length) input.maxLength = option.max_length;
  const extra = option.autocomplete ? suggestionsFor(command, option, input, fields) : null;
  return { input, extra, value: async () => typed(option, input.dataset.value ?? input.value) };
}

function choicesFor(option) {
  if (option.choices?.length > 0) {
    return option.choices.map((choice) => ({ label: choice.name, value: String(choice.value) }));
  }
  if (option.type === TYPE.user) return everybody().map(named);
  if (option.type === TYPE.channel) return allChannels().map(named);
  if (option.type === TYPE.role) return state.roles.map(named);
  return null;
}

function typed(option, value) {
  if (value === "") return null;
  return option.type === TYPE.integer || option.type === TYPE.number ? Number(value) : value;
}

/** What the bot offers for what is typed, as buttons below the field. */
function suggestionsFor(command, option, input, fields) {
  const list = el("span", { className: "offers" });
  let asked = 0;
  const ask = async () => {
    asked += 1;
    const mine = asked;
    delete input.dataset.value;
    const options = { ...(await valuesOf(fields())), [option.name]: input.value };
    const answer = await act("autocomplete", {
      channel: state.channel.id,
      name: command.name,
      options,
      focused: option.name,
    });
    if (mine !== asked || answer?.outcome !== "choices") return;
    const choose = (choice) => {
      input.value = choice.name;
      input.dataset.value = String(choice.value);
      fill(list);
      input.focus();
    };
    fill(
      list,
      answer.choices.map((choice) =>
        el("button", { className: "offer", type: "button", onclick: () => choose(choice) }, choice.name),
      ),
    );
  };
  input.addEventListener("input", ask);
  input.addEventListener("focus", ask, { once: true });
  return list;
}
