import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startEngine, type EngineRigOptions, type watch } from "../../test/support/engine_rig.ts";
import { echo } from "../../test/support/little_tools.ts";
import { calls, says, type Script } from "../../test/support/scripted_provider.ts";
import { planTool } from "../tools/plan.ts";
import { taskTool } from "../tools/task.ts";
import { builtIn, castProvider, type Roles } from "./testing/cast.ts";

const ADA = { user_id: "u1", name: "Ada" };
const tools = [builtIn(planTool()), builtIn(taskTool()), echo];
const UNASKED = { auto_approve_tools: ["plan", "task"] };
const rigs: { close(): Promise<void> }[] = [];

type Watched = ReturnType<typeof watch>;

async function start(roles: Roles, options: EngineRigOptions = {}) {
  const rig = await startEngine({ tools, provider: castProvider(roles), ...options });
  rigs.push(rig);
  return rig;
}

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

function plans(...prompts: string[]): Script {
  return calls(...prompts.map((prompt, index) => ({ id: `plan_${index}`, name: "plan", arguments: { prompt } })));
}

function feedback(text: string, review_id: string | null = null) {
  return { feedback: text, review_id, decided_by: ADA };
}

function reviewsOf(ws: Watched) {
  return ws.kept().flatMap((event) => (event.type === "plan_review" ? [event] : []));
}

/** The reviews that were asked for, once there are so many. */
async function reviewed(ws: Watched, count = 1) {
  await ws.until(() => reviewsOf(ws).length === count);
  return reviewsOf(ws);
}

function results(ws: Watched): string[] {
  return ws.kept().flatMap((event) => (event.type === "tool_result" ? [event.output] : []));
}

function fileOf(folder: string, ws_id: string): string {
  return join(folder, "workspaces", ws_id, `.plan-${ws_id}.md`);
}

// REQ-ENGINE-022
test("an empty answer accepts: the plan is the result and stands in the parent's workspace (CTX-13)", async () => {
  const { engine, open, folder, provider } = await start({
    go: [plans("Move"), says("Off I go.")],
    Move: [says("1. Pack.")],
  });
  const ws = await open(UNASKED);
  await ws.say("go");
  const [review] = await reviewed(ws);
  expect(review).toMatchObject({ content: "1. Pack.", round: 1, call_id: "plan_0" });
  expect((await engine.snapshot(ws.ws_id))?.state).toBe("attention");
  expect(await engine.plan(ws.ws_id, feedback("  "))).toEqual({ ok: true, review_id: review?.review_id });
  await ws.turnEnded();
  expect(results(ws)).toEqual(["1. Pack."]);
  expect(readFileSync(fileOf(folder, ws.ws_id), "utf8")).toBe("1. Pack.\n");
  expect(provider.requests[1]?.tools.map((tool) => tool.name)).not.toContain("plan");
});

test.each([" No ", "REJECT", "n"])("%j rejects: the model is told not to implement it (CTX-13)", async (answer) => {
  const { engine, open } = await start({ go: [plans("Move"), says("What then?")], Move: [says("1. Pack.")] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await reviewed(ws);
  await engine.plan(ws.ws_id, feedback(answer));
  await ws.turnEnded();
  expect(results(ws)[0]).toMatch(/Ada rejected.*Do not implement/);
});

test("other words go whole to the same planner for another round (CTX-13, REQ-ENGINE-023)", async () => {
  const long = "Please more detail. ".repeat(150).trim();
  const roles = { go: [plans("Move"), says("Off I go.")], Move: [says("Draft one."), says("Draft two.")] };
  const { engine, open, provider, store } = await start(roles);
  const ws = await open(UNASKED);
  await ws.say("go");
  await reviewed(ws);
  await engine.plan(ws.ws_id, feedback(`  ${long}\n`));
  const reviews = await reviewed(ws, 2);
  expect(reviews.map(({ content, round }) => [content, round])).toEqual([
    ["Draft one.", 1],
    ["Draft two.", 2],
  ]);
  expect(JSON.stringify(provider.requests.at(-1)?.messages.at(-1))).toContain(long);
  expect(provider.requests.at(-1)?.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  await engine.plan(ws.ws_id, feedback(""));
  await ws.turnEnded();
  expect(results(ws)).toEqual(["Draft two."]);
  expect(await store.workstreams.children(ws.ws_id)).toHaveLength(1);
});

test("a plan that starts unasked is reviewed all the same, and one where everything is allowed is not", async () => {
  const roles = () => ({ go: [plans("Move"), says("Done.")], Move: [says("1. Pack.")] });
  const asking = await start(roles());
  const first = await asking.open(UNASKED);
  await first.say("go");
  await reviewed(first);
  expect(first.types()).not.toContain("approve_request");

  const free = await start(roles());
  const second = await free.open({ auto_approve: true });
  await second.say("go");
  await second.turnEnded();
  expect(reviewsOf(second)).toEqual([]);
  expect(results(second)).toEqual(["1. Pack."]);
});

test("two plans at once have a review each (CTX-13)", async () => {
  const roles = { go: [plans("One", "Two"), says("Done.")], One: [says("Plan one.")], Two: [says("Plan two.")] };
  const { engine, open } = await start(roles);
  const ws = await open(UNASKED);
  await ws.say("go");
  const reviews = await reviewed(ws, 2);
  const idOf = (content: string): string => reviews.find((review) => review.content === content)?.review_id ?? "";
  await engine.plan(ws.ws_id, feedback("no", idOf("Plan two.")));
  await ws.until(() => results(ws).length === 1);
  expect((await engine.snapshot(ws.ws_id))?.state).toBe("attention");
  await engine.plan(ws.ws_id, feedback("", idOf("Plan one.")));
  await ws.turnEnded();
  expect(results(ws)[0]).toContain("rejected");
  expect(results(ws)[1]).toBe("Plan one.");
});

test("a failed planner is not put before anybody", async () => {
  const failure = {
    code: "model_rejected" as const,
    message: "The model refused the request.",
    detail: "",
    retryable: false,
  };
  const { open, folder } = await start({ go: [plans("Move"), says("I see.")], Move: [[{ type: "failed", failure }]] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.turnEnded();
  expect(reviewsOf(ws)).toEqual([]);
  expect(ws.one("tool_result")).toMatchObject({
    is_error: true,
    output: expect.stringContaining("refused the request"),
  });
  expect(existsSync(fileOf(folder, ws.ws_id))).toBe(false);
});

test("the next plan refines the one before: from its file, or from its planner when the file is gone", async () => {
  const roles = {
    go: [plans("First"), says("1"), plans("Second"), says("2"), plans("Third"), says("3")],
    First: [says("The first plan.")],
    Second: [says("The second plan.")],
    Third: [says("The third plan.")],
  };
  const { engine, open, folder, provider } = await start(roles);
  const ws = await open(UNASKED);
  const opening = (prompt: string): string => {
    const request = provider.requests.find(({ messages }) => JSON.stringify(messages[0]).includes(`"${prompt}`));
    return JSON.stringify(request?.messages[0]);
  };
  for (const [index] of ["First", "Second", "Third"].entries()) {
    if (index === 2) rmSync(fileOf(folder, ws.ws_id));
    await ws.say("go");
    await reviewed(ws, index + 1);
    await engine.plan(ws.ws_id, feedback(""));
    await ws.turnEnded(index + 1);
  }
  expect(opening("First")).not.toContain("<earlier>");
  expect(opening("Second")).toContain("The first plan.");
  expect(opening("Third")).toContain("The second plan.");
});

test("a cancel during a review settles it, and the plan is not taken for accepted (CTX-15)", async () => {
  const { engine, open } = await start({ go: [plans("Move")], Move: [says("1. Pack.")] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await reviewed(ws);
  await engine.cancel(ws.ws_id, false);
  expect(ws.one("plan_resolved")).toMatchObject({ reason: "cancelled" });
  expect(ws.one("tool_result").output).toMatch(/^Cancelled by the user while plan was running/);
  expect(ws.kept().at(-1)).toMatchObject({ outcome: "cancelled" });
  expect(await engine.plan(ws.ws_id, feedback(""))).toMatchObject({ ok: false, reason: "nothing_pending" });
});

// REQ-CRASH-005
test("a review outlives a restart: the same one is answered, and the planner goes on where it was", async () => {
  const roles: Roles = {
    go: [plans("Move"), says("Off I go.")],
    Move: [says("Draft one."), says("Draft two."), says("Draft three.")],
  };
  const provider = castProvider(roles);
  const first = await startEngine({ tools, provider });
  const before = await first.open(UNASKED);
  await before.say("go");
  await reviewed(before);
  await first.engine.plan(before.ws_id, feedback("shorter"));
  const [, open_review] = await reviewed(before, 2);
  await first.crash();

  const second = await start(roles, { folder: first.folder, provider });
  const ws = second.watch(before.ws_id);
  await second.engine.recover();
  await ws.until(() => ws.frames.some(({ event }) => event.type === "state_change" && event.state === "attention"));
  expect((await second.engine.snapshot(ws.ws_id))?.pending.map(({ event }) => event)).toMatchObject([
    { review_id: open_review?.review_id, round: 2 },
  ]);
  await second.engine.plan(ws.ws_id, feedback("longer", open_review?.review_id ?? ""));
  const [third] = await reviewed(ws);
  expect(third).toMatchObject({ content: "Draft three.", round: 3 });
  await second.engine.plan(ws.ws_id, feedback(""));
  await ws.turnEnded();
  expect(results(ws)).toEqual(["Draft three."]);
  expect(await second.store.workstreams.children(ws.ws_id)).toHaveLength(1);
});

test("while a review waits, a sub-agent's work does not hide it", async () => {
  const both = calls(
    { id: "p", name: "plan", arguments: { prompt: "Move" } },
    { id: "t", name: "task", arguments: { prompt: "Work" } },
  );
  const { promise: reviewing, resolve } = Promise.withResolvers<void>();
  const waits: Script = async function* () {
    await reviewing;
    yield* says("Report.");
  };
  const { engine, open } = await start({ go: [both, says("Done.")], Move: [says("1. Pack.")], Work: [waits] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await reviewed(ws);
  resolve();
  await ws.until(() => results(ws).length === 1);
  expect((await engine.snapshot(ws.ws_id))?.state).toBe("attention");
  await engine.plan(ws.ws_id, feedback(""));
  await ws.turnEnded();
});
