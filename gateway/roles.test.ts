import { expect, test } from "vitest";
import { ACTOR_ROLE_HEADER } from "../src/protocol/auth.ts";
import type { RoleName } from "./config.ts";
import type { PracticeDiscord } from "./practice/index.ts";
import { startBench, until, userTurn, type Bench } from "./testing/bench.ts";

/** Ada administrates, Ben talks, Cleo has no role with a meaning; each is linked to an account that may all. */
async function startWithRoles(): Promise<Bench> {
  const roles: Record<string, RoleName> = {};
  const bench = await startBench({ discord: { roles } });
  roles[bench.practice.roleId("admin")] = "admin";
  roles[bench.practice.roleId("approver")] = "talk";
  for (const name of ["Ada", "Ben", "Cleo"]) bench.link(name);
  return bench;
}

/** As whom, with which role, the server was asked to do something, such as `Ben talk`. */
function rolesSaid({ server, practice }: Bench): Set<string> {
  const said = new Set<string>();
  server.refuse = ({ headers }) => {
    const actor = String(headers["x-turnstone-actor"] ?? "").replace("discord:", "");
    const name = ["Ada", "Ben", "Cleo"].find((each) => practice.userId(each) === actor);
    if (name !== undefined) said.add(`${name} ${String(headers[ACTOR_ROLE_HEADER])}`);
    return null;
  };
  return said;
}

function asked(practice: PracticeDiscord): number {
  return practice.requests.filter(({ path }) => /\/members\/\d+$/.test(path)).length;
}

test("a person without a role that counts hears so, and one who may talk does not decide", async () => {
  const roles: Record<string, RoleName> = {};
  await using bench = await startBench({ discord: { roles } });
  const { practice, server } = bench;
  roles[practice.roleId("admin")] = "admin";
  roles[practice.roleId("approver")] = "talk";
  for (const name of ["Ada", "Ben", "Cleo"]) bench.link(name);
  practice.as("Cleo").say("general", `<@${practice.bot_id}> hello`);
  await bench.sees("general", "Your roles here do not let you talk to me");
  const { thread } = await bench.begin("Ben", "go");
  await until(() => practice.as("Ben").commands("general").length > 0);
  await practice.as("Ben").slash(thread, "doctor");
  await practice.waitFor(() => practice.as("Ben").channelAsText(thread).includes("Only admins"));
  expect(server.sent.map(({ message }) => message)).toEqual(["go"]);
});

test("roles hold in direct messages as they do in the guild", async () => {
  await using bench = await startWithRoles();
  const { practice, server } = bench;
  const said = rolesSaid(bench);
  for (const name of ["Cleo", "Ben", "Ada"]) practice.as(name).say(practice.as(name).openDm().id, `${name} here`);
  await practice.waitFor(() => practice.dmAsText("Cleo").includes("Your roles here do not let you talk to me"));
  await until(() => server.sent.length === 2);
  expect(server.sent.map(({ message }) => message).toSorted()).toEqual(["Ada here", "Ben here"]);
  expect([...said].toSorted()).toEqual(["Ada admin", "Ben talk"]);
});

test("a press in a direct message counts no more than the roles of its person", async () => {
  await using bench = await startWithRoles();
  const { practice, server } = bench;
  const cleo = practice.as("Cleo");
  const dm = cleo.openDm();
  await until(() => cleo.commands(dm.id).length > 0);
  await cleo.slash(dm.id, "memory list");
  await practice.waitFor(() => cleo.channelAsText(dm.id).includes("Your roles here do not let you do this"));
  const ben = practice.as("Ben");
  await ben.slash(ben.openDm().id, "doctor");
  await practice.waitFor(() => ben.channelAsText(ben.openDm().id).includes("Only admins"));
  expect(server.calls.filter(({ name }) => name.includes("/memories"))).toEqual([]);
});

test("nobody is offered what the command would refuse: neither without a role nor in a channel that is not served", async () => {
  await using bench = await startWithRoles();
  const { practice, settings } = bench;
  await until(() => practice.as("Ada").commands("general").length > 0);
  const offered = async (name: string, channel: string): Promise<number> => {
    const answer = await practice.as(name).autocomplete(channel, "model", { model: "" }, "model");
    return (answer as { choices: unknown[] }).choices.length;
  };
  expect(await offered("Ada", "general")).toBeGreaterThan(0);
  expect(await offered("Cleo", "general")).toBe(0);
  Object.assign(settings.discord, { channels: [practice.channelId("random")] });
  expect(await offered("Ada", "general")).toBe(0);
  expect(await offered("Ada", "random")).toBeGreaterThan(0);
});

test("where Discord does not say which roles somebody has, nothing is done and the person is told", async () => {
  await using bench = await startWithRoles();
  const { practice, server } = bench;
  practice.faults.onRequest({ path: /\/members\/\d+$/ }, { kind: "status", status: 403 });
  const ada = practice.as("Ada");
  const dm = ada.openDm();
  ada.say(dm.id, "is anybody there?");
  await practice.waitFor(() => practice.dmAsText("Ada").includes("does not tell me at the moment"));
  await until(() => ada.commands(dm.id).length > 0);
  await ada.slash(dm.id, "memory list");
  await practice.waitFor(() => ada.channelAsText(dm.id).includes("Try again in a minute"));
  expect(server.sent).toEqual([]);
  practice.faults.clear();
  ada.say(dm.id, "and now?");
  expect((await bench.sent(1)).message).toBe("and now?");
});

test("a message that was missed is heard by its author's roles, which Discord is asked once for", async () => {
  await using bench = await startWithRoles();
  const { practice, server } = bench;
  const said = rolesSaid(bench);
  const ben = await bench.begin("Ben", "go");
  server.emit(ben.ws_id, userTurn(ben));
  await until(() => server.routes.get(ben.thread)?.last_inbound_id === ben.thread);
  await bench.gateway.stop();
  for (const words of ["one", "two", "three"]) practice.as("Ben").say(ben.thread, words);
  practice.as("Cleo").say(ben.thread, "me too");
  const before = asked(practice);
  await bench.restart();
  expect((await bench.sent(4)).message).toBe("three");
  await bench.sees(ben.thread, "Your roles here do not let you talk to me");
  expect(server.sent.map(({ message }) => message)).toEqual(["go", "one", "two", "three"]);
  // Whether a mention was answered is asked before its author's role matters, and `unknown` allows the least.
  expect([...said].filter((each) => !each.endsWith("unknown"))).toEqual(["Ben talk"]);
  expect(asked(practice) - before).toBe(2);
});
