import {
  ButtonStyle,
  ChannelType,
  ComponentType,
  DiscordAPIError,
  TextInputStyle,
  Events,
  MessageFlags,
} from "discord.js";
import type {
  APIButtonComponentWithCustomId,
  APIModalInteractionResponseCallbackData,
  ButtonInteraction,
  ChatInputCommandInteraction,
  Client,
  Interaction,
  TextChannel,
} from "discord.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { modalAsText } from "./index.ts";
import type { Answer, PracticeDiscord } from "./index.ts";
import { assertFaithful, startBot } from "../../test/support/practice_bot.ts";
import type { Bench } from "../../test/support/practice_bot.ts";

let bench: Bench;
let practice: PracticeDiscord;
let client: Client<true>;

beforeEach(async () => {
  bench = await startBot({ ack_deadline_ms: 400 });
  ({ practice, client } = bench);
});

afterEach(async () => {
  assertFaithful(practice);
  await bench[Symbol.asyncDispose]();
});

function onInteraction(handle: (interaction: Interaction) => Promise<unknown>): void {
  client.on(Events.InteractionCreate, (interaction) => void handle(interaction));
}

async function postCard(): Promise<string> {
  const channel = client.channels.cache.get(practice.channelId("general")) as TextChannel;
  const off = { ...button("off"), disabled: true };
  const options = ["one", "all"].map((value) => ({ label: value, value }));
  const select = { type: ComponentType.StringSelect, custom_id: "scope", placeholder: "How far?", options } as const;
  const sent = await channel.send({
    content: "Run it?",
    components: [
      { type: ComponentType.ActionRow, components: [button("yes"), button("no"), off] },
      { type: ComponentType.ActionRow, components: [select] },
    ],
  });
  return sent.id;
}

function button(id: string): APIButtonComponentWithCustomId {
  return { type: ComponentType.Button, style: ButtonStyle.Primary, label: id.toUpperCase(), custom_id: id };
}

async function register(...commands: object[]): Promise<void> {
  await client.application.commands.set(commands as never[], practice.guild_id);
}

function shown(answer: Answer): string {
  return "message" in answer && answer.message !== null ? practice.messageAsText(answer.message) : answer.outcome;
}

async function codeOf(action: Promise<unknown>): Promise<number | string> {
  const error = await action.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DiscordAPIError)) throw new Error(`Not refused by Discord: ${String(error)}`);
  return error.code;
}

test("a pressed button rewrites its card for everyone", async () => {
  const card = await postCard();
  onInteraction(async (interaction) => {
    if (interaction.isButton()) {
      await interaction.update({
        content: `${interaction.customId} by ${interaction.user.displayName}`,
        components: [],
      });
    }
  });
  const answer = await practice.as("Ben").press(card, "YES");
  expect(answer.outcome).toBe("updated");
  expect(practice.channelAsText("general")).toBe("#general\nturnstone: yes by Ben\n  (edited)");
  await expect(practice.as("Ada").press(card, "yes")).rejects.toThrow("no button yes");
});

test("an ephemeral answer is seen by one person and is not in the history", async () => {
  const card = await postCard();
  onInteraction(async (interaction) => {
    if (!interaction.isButton()) return;
    await interaction.reply({ content: "you may not", flags: MessageFlags.Ephemeral });
    await interaction.editReply("only an approver may");
  });
  await practice.as("Cleo").press(card, "no");
  await practice.waitFor(() => practice.as("Cleo").channelAsText("general").includes("only an approver may"));
  expect(practice.as("Cleo").channelAsText("general")).toContain("(only Cleo sees this)");
  expect(practice.as("Ada").channelAsText("general")).not.toContain("approver");
  expect(practice.channelAsText("general")).not.toContain("approver");
});

test("a select brings its values; what is off or not offered cannot be chosen", async () => {
  const card = await postCard();
  onInteraction(async (interaction) => {
    if (interaction.isStringSelectMenu()) await interaction.reply(`chose ${interaction.values.join()}`);
  });
  expect(shown(await practice.as("Ada").select(card, "scope", ["all"]))).toContain("chose all");
  await expect(practice.as("Ada").select(card, "scope", ["none"])).rejects.toThrow("none is not offered");
  await expect(practice.as("Ada").press(card, "off")).rejects.toThrow("switched off");
});

test("a form is opened, filled in and answered", async () => {
  const card = await postCard();
  onInteraction(async (interaction) => {
    if (interaction.isButton()) {
      await interaction.showModal(reasonForm());
    }
    if (interaction.isModalSubmit()) {
      const why = interaction.fields.getTextInputValue("why");
      await (interaction.isFromMessage() ? interaction.update({ content: `denied: ${why}`, components: [] }) : null);
      await interaction.followUp("noted");
    }
  });
  const ada = practice.as("Ada");
  const modal = await ada.press(card, "no");
  if (modal.outcome !== "modal") throw new Error(`There is no form but ${modal.outcome}.`);
  expect(modalAsText(modal.modal)).toBe("form Deny\n  Why?: ____\n  For how long?: ____");
  await expect(ada.submit(modal, {})).rejects.toThrow("why needs an answer");
  await expect(ada.submit(modal, { why: "x".repeat(201) })).rejects.toThrow("0 to 200");
  await ada.submit(modal, { why: "too risky", long: ["once"] });
  await practice.waitFor(() => practice.channelAsText("general").includes("turnstone: noted"));
  expect(practice.channelAsText("general")).toContain("turnstone: denied: too risky");
});

test.each([
  ["a title of 46 characters", { title: "t".repeat(46), components: [field("a")] }],
  ["six components", { title: "t", components: Array.from({ length: 6 }, (_, n) => field(`f${n}`)) }],
  ["two fields of one id", { title: "t", components: [field("a"), field("a")] }],
  ["a field that is off", { title: "t", components: [field("a", { disabled: true })] }],
  ["a value above its maximum", { title: "t", components: [field("a", { max_length: 2, value: "abc" })] }],
])("refuses a form with %s", async (_what, data) => {
  const card = await postCard();
  const codes: (number | string)[] = [];
  onInteraction(async (interaction) => {
    if (interaction.isButton()) codes.push(await codeOf(interaction.showModal({ custom_id: "m", ...data } as never)));
  });
  expect((await practice.as("Ada").press(card, "yes")).outcome).toBe("failed");
  expect(codes).toEqual([50035]);
});

test("nobody answering is shown as failed, a late answer is refused (DEVT-01, DEVT-02)", async () => {
  const card = await postCard();
  const late = new Promise<Interaction>((resolve) => client.once(Events.InteractionCreate, resolve));
  expect(await practice.as("Ada").press(card, "yes")).toMatchObject({
    outcome: "failed",
    text: "This interaction failed",
  });
  const interaction = (await late) as ButtonInteraction;
  expect(await codeOf(interaction.deferUpdate())).toBe(10062);
});

test("one acknowledgement, then follow-ups for as long as the token lives (DEVT-02, DEVT-03)", async () => {
  const card = await postCard();
  const done = new Promise<(number | string)[]>((resolve) => {
    onInteraction(async (interaction) => {
      if (!interaction.isButton()) return;
      const early = await codeOf(interaction.webhook.send("too early"));
      await interaction.deferUpdate();
      const again = await codeOf(
        client.rest.post(`/interactions/${interaction.id}/${interaction.token}/callback`, {
          auth: false,
          body: { type: 6 },
        }),
      );
      await interaction.followUp("one more thing");
      practice.faults.expireInteraction(interaction.id);
      resolve([early, again, await codeOf(interaction.followUp("too late"))]);
    });
  });
  expect((await practice.as("Ada").press(card, "yes")).outcome).toBe("acknowledged");
  expect(await done).toEqual([10015, 40060, 50027]);
  expect(practice.channelAsText("general")).toContain("turnstone: one more thing");
});

test("a slash command with options: deferred, then answered", async () => {
  await register({
    name: "ask",
    description: "Ask the agent",
    options: [
      { type: 3, name: "message", description: "What?", required: true },
      { type: 11, name: "file", description: "With a file" },
    ],
  });
  onInteraction(async (interaction) => {
    if (!interaction.isChatInputCommand()) return;
    await interaction.deferReply();
    await interaction.editReply(described(interaction));
  });
  const answer = await practice
    .as("Ada")
    .slash("general", "ask", { message: "hi", file: { filename: "a.txt", content: "abc" } });
  expect(answer.outcome).toBe("deferred");
  await practice.waitFor(() => practice.channelAsText("general").includes("hi with a.txt"));
  expect(practice.channelAsText("general")).not.toContain("(edited)");
  await expect(practice.as("Ada").slash("general", "ask")).rejects.toThrow("message is required");
  await expect(practice.as("Ada").slash("general", "nope")).rejects.toThrow("There is no command nope");
});

function described(interaction: ChatInputCommandInteraction): string {
  const file = interaction.options.getAttachment("file");
  return `${interaction.options.getString("message", true)} with ${file?.name ?? "nothing"}`;
}

test("subcommands, autocomplete and a message's menu", async () => {
  const query = { type: 3, name: "query", description: "Which?", autocomplete: true };
  await register(
    {
      name: "memory",
      description: "Memories",
      options: [{ type: 1, name: "forget", description: "Forget", options: [query] }],
    },
    { type: 3, name: "Ask about this" },
  );
  onInteraction(async (interaction) => {
    if (interaction.isAutocomplete()) {
      await interaction.respond([{ name: `${interaction.options.getFocused()}-one`, value: "1" }]);
    } else if (interaction.isChatInputCommand()) {
      await interaction.reply(`${interaction.options.getSubcommand()} ${interaction.options.getString("query")}`);
    } else if (interaction.isMessageContextMenuCommand()) {
      await interaction.reply(`about: ${interaction.targetMessage.content}`);
    }
  });
  const ada = practice.as("Ada");
  expect(await ada.autocomplete("general", "memory forget", { query: "bo" }, "query")).toMatchObject({
    choices: [{ name: "bo-one", value: "1" }],
  });
  expect(shown(await ada.slash("general", "memory forget", { query: "1" }))).toContain("forget 1");
  expect(shown(await ada.messageCommand(practice.as("Ben").say("general", "the boat"), "Ask about this"))).toContain(
    "about: the boat",
  );
  await expect(ada.slash("general", "memory")).rejects.toThrow("needs one of forget");
});

test("global commands work in direct messages", async () => {
  await client.application.commands.set([{ name: "status", description: "How are things?" }]);
  onInteraction(async (interaction) => {
    if (interaction.isChatInputCommand()) await interaction.reply(`fine, ${interaction.user.displayName}`);
  });
  const ben = practice.as("Ben");
  await ben.slash(ben.openDm(), "status");
  expect(practice.dmAsText("Ben")).toBe("DM with Ben\nturnstone: fine, Ben");
});

test.each([
  ["upper case", [{ name: "Ask", description: "d" }]],
  [
    "two of one name",
    [
      { name: "ask", description: "d" },
      { name: "ask", description: "d" },
    ],
  ],
  ["no description", [{ name: "ask" }]],
  [
    "a required option behind an optional one",
    [
      {
        name: "ask",
        description: "d",
        options: [
          { type: 3, name: "a", description: "d" },
          { type: 3, name: "b", description: "d", required: true },
        ],
      },
    ],
  ],
  [
    "26 options",
    [
      {
        name: "a",
        description: "d",
        options: Array.from({ length: 26 }, (_, n) => ({ type: 3, name: `o${n}`, description: "d" })),
      },
    ],
  ],
])("refuses commands with %s", async (_what, body) => {
  expect(await codeOf(client.rest.put(`/applications/${practice.bot_id}/commands`, { body }))).toBe(50035);
});

test("nobody can press in a locked thread", async () => {
  const channel = client.channels.cache.get(practice.channelId("general")) as TextChannel;
  const thread = await channel.threads.create({ name: "shut", type: ChannelType.PublicThread });
  const row = { type: ComponentType.ActionRow, components: [button("go")] };
  const card = await thread.send({ components: [row] });
  practice.admin.archive(thread.id, { locked: true });
  await expect(practice.as("Ada").press(card.id, "GO")).rejects.toThrow("This thread is locked.");
});

function reasonForm(): APIModalInteractionResponseCallbackData {
  const why = { custom_id: "why", style: TextInputStyle.Paragraph, max_length: 200 };
  const options = [{ label: "once", value: "once" }];
  const long = { type: ComponentType.StringSelect, custom_id: "long", options, required: false } as const;
  return {
    custom_id: "reason",
    title: "Deny",
    components: [
      { type: ComponentType.Label, label: "Why?", component: { type: ComponentType.TextInput, ...why } },
      { type: ComponentType.Label, label: "For how long?", component: long },
    ],
  };
}

function field(id: string, more: object = {}): object {
  return { type: 18, label: "L", component: { type: 4, custom_id: id, style: 1, ...more } };
}
