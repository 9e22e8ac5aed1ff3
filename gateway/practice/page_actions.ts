import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { isJsonObject } from "../../src/protocol/json.ts";
import type { World } from "./model.ts";
import type { OptionValue } from "./people/commands.ts";
import { NotPossible } from "./people/find.ts";
import type { FieldValue, GivenFile } from "./people/forms.ts";
import { personOf } from "./people/person.ts";
import type { Answer, OpenModal, Person, SayOptions } from "./people/person.ts";

/** Does what the page asks for a person; answers what they see. Throws `NotPossible` with words for them. */
export async function actAs(world: World, body: unknown): Promise<JsonObject> {
  if (!isJsonObject(body)) throw new NotPossible("The page sent nothing to do.");
  const person = personOf(world, text(body, "as"));
  const action = ACTIONS.get(text(body, "action"));
  if (action === undefined) throw new NotPossible("The page asked for something that this server does not know.");
  return action(person, body, world);
}

type Action = (person: Person, body: JsonObject, world: World) => Promise<JsonObject> | JsonObject;

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["say", (person, body) => done(person.say(text(body, "channel"), text(body, "content"), sayOptions(body)).id)],
  ["edit", (person, body) => done(person.edit(text(body, "message"), text(body, "content")).id)],
  ["remove", (person, body) => done(person.remove(text(body, "message")))],
  ["react", (person, body) => done(person.react(text(body, "message"), text(body, "emoji")))],
  ["type", (person, body) => done(person.type(text(body, "channel")))],
  ["thread", (person, body) => done(person.startThread(text(body, "channel"), threadOptions(body)).id)],
  ["press", async (person, body) => answerView(await person.press(text(body, "message"), text(body, "custom_id")))],
  [
    "select",
    async (person, body) =>
      answerView(await person.select(text(body, "message"), text(body, "custom_id"), texts(body["values"]))),
  ],
  ["submit", async (person, body, world) => answerView(await person.submit(openModal(world, body), fieldValues(body)))],
  [
    "slash",
    async (person, body) =>
      answerView(await person.slash(text(body, "channel"), text(body, "name"), optionValues(body["options"]))),
  ],
  [
    "autocomplete",
    async (person, body) => {
      const options = optionValues(body["options"]);
      const focused = text(body, "focused");
      return answerView(await person.autocomplete(text(body, "channel"), text(body, "name"), options, focused));
    },
  ],
  [
    "message_command",
    async (person, body) => answerView(await person.messageCommand(text(body, "message"), text(body, "name"))),
  ],
]);

function done(id: string | void): JsonObject {
  return id === undefined ? {} : { id };
}

function answerView(answer: Answer): JsonObject {
  switch (answer.outcome) {
    case "modal":
      return { outcome: "modal", interaction_id: answer.interaction_id, modal: { ...answer.modal } };
    case "choices":
      return { outcome: "choices", choices: answer.choices };
    case "failed":
      return { outcome: "failed", text: answer.text };
    case "message":
    case "deferred":
    case "updated":
      return { outcome: answer.outcome, id: answer.message.id };
    case "acknowledged":
      return { outcome: "acknowledged" };
    default:
      return answer satisfies never;
  }
}

/** The form that an interaction opened for whoever submits it. */
function openModal(world: World, body: JsonObject): OpenModal {
  const id = text(body, "interaction_id");
  const interaction = world.interactions.get(id);
  if (interaction?.result?.outcome !== "modal") throw new NotPossible("This form is no longer open.");
  const messageId = interaction.message_id ?? "";
  const message = world.ephemeral.get(messageId) ?? world.messages.get(interaction.channel_id)?.get(messageId) ?? null;
  const { modal } = interaction.result;
  return { outcome: "modal", interaction_id: id, modal, message, channel_id: interaction.channel_id };
}

function sayOptions(body: JsonObject): SayOptions {
  return {
    ...(typeof body["reply_to"] === "string" ? { reply_to: body["reply_to"] } : {}),
    attachments: filesOf(body["attachments"]),
  };
}

function threadOptions(body: JsonObject): Parameters<Person["startThread"]>[1] {
  return {
    name: text(body, "name"),
    ...(typeof body["message"] === "string" ? { message: body["message"] } : {}),
    ...(typeof body["content"] === "string" && body["content"] !== "" ? { first_message: body["content"] } : {}),
  };
}

function fieldValues(body: JsonObject): Record<string, FieldValue> {
  const values = isJsonObject(body["values"]) ? body["values"] : {};
  return Object.fromEntries(
    Object.entries(values).map(([key, value]): [string, FieldValue] => {
      if (typeof value === "string" || typeof value === "boolean") return [key, value];
      const files = filesOf(value);
      return [key, files.length > 0 ? files : texts(value)];
    }),
  );
}

function optionValues(value: JsonValue | undefined): Record<string, OptionValue> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]): [string, OptionValue][] => {
      if (typeof one === "string" || typeof one === "number" || typeof one === "boolean") return [[key, one]];
      const file = filesOf([one])[0];
      return file === undefined ? [] : [[key, file]];
    }),
  );
}

/** Files as the page sends them: `{filename, base64}`. */
function filesOf(value: JsonValue | undefined): GivenFile[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).flatMap((file) => {
    const { filename, base64 } = file;
    if (typeof filename !== "string" || typeof base64 !== "string") return [];
    return [{ filename, content: Buffer.from(base64, "base64") }];
  });
}

function text(body: JsonObject, key: string): string {
  const value = body[key];
  if (typeof value !== "string") throw new NotPossible(`The page left out ${key}.`);
  return value;
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
