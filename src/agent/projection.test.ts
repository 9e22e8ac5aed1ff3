import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { startEngine } from "../../test/support/engine_rig.ts";
import { echo, recorder } from "../../test/support/little_tools.ts";
import { calls, says, ScriptedProvider, type Script } from "../../test/support/scripted_provider.ts";
import type { Change, JournalEntry, Step, WorkstreamRow } from "../contracts/store.ts";
import type { Message } from "../protocol/message.ts";
import { emptyConversation, type Conversation } from "./conversation.ts";
import { applyEntry, nextAction } from "./projection.ts";

const ADA = { user_id: "u1", name: "Ada" };
const DECISIONS = ["yes", "yes", "no", "first_only", "cancel"] as const;
const NO_REVIEW = { feedback: null, always: false, scope: null, call_id: null, calls: null, decided_by: ADA };

type Rig = Awaited<ReturnType<typeof startEngine>>;
const rigs: Rig[] = [];

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

/** An effect: which call had it, and where. */
interface Done {
  ws_id: string;
  call_id: string;
}

/** A tool with a side effect that remembers whose it was. */
function recording(done: Done[]): ReturnType<typeof recorder> {
  const { definition, tool } = recorder([]);
  return {
    definition,
    tool: {
      ...tool,
      execute(plan, context) {
        done.push({ ws_id: context.ws_id, call_id: context.call_id });
        return tool.execute(plan, context);
      },
    },
  };
}

/** What happens in a conversation, as it is made up: what people say, what the model does, what is decided. */
interface Story {
  turns: { said: string; rounds: Script[]; decision: (typeof DECISIONS)[number]; queued: boolean }[];
  rewinds: boolean;
}

const call = fc.record({
  name: fc.constantFrom("echo", "record", "record", "nobody_knows"),
  arguments: fc.oneof(
    fc.record({ text: fc.string({ minLength: 1, maxLength: 8 }) }),
    fc.constantFrom<unknown>("{not json", { text: 5 }, {}),
  ),
  id: fc.constantFrom("a", "b", "c", ""),
});
const asking = fc.array(call, { minLength: 1, maxLength: 4 }).map((asked): Script => calls(...asked));
const refused: Script = [
  {
    type: "failed",
    failure: { code: "model_content_filter", message: "The filter said no.", detail: "", retryable: false },
  },
];
const ended = (stop_reason: "stop" | "length" | "refusal"): Script => [
  { type: "ended", stop_reason, usage: { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 } },
];
const round = fc.oneof(
  { weight: 6, arbitrary: asking },
  { weight: 2, arbitrary: fc.string({ minLength: 1, maxLength: 20 }).map((text): Script => says(text)) },
  { weight: 1, arbitrary: fc.constantFrom<Script>(refused, ended("stop"), ended("length"), ended("refusal")) },
);
const story: fc.Arbitrary<Story> = fc.record({
  turns: fc.array(
    fc.record({
      said: fc.string({ minLength: 1, maxLength: 20 }),
      rounds: fc.array(round, { maxLength: 4 }),
      decision: fc.constantFrom(...DECISIONS),
      queued: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  rewinds: fc.boolean(),
});

interface Stage {
  rig: Rig;
  provider: ScriptedProvider;
}

async function start(done: Done[]): Promise<Stage> {
  const provider = new ScriptedProvider();
  const rig = await startEngine({ tools: [echo, recording(done)], provider });
  rigs.push(rig);
  return { rig, provider };
}

/** Plays a story with the real loop on a real store; answers the journal that it leaves. */
async function journalOf({ rig, provider }: Stage, { turns, rewinds }: Story): Promise<JournalEntry[]> {
  const ws = await rig.open();
  const count = (type: string): number => ws.types().filter((one) => one === type).length;
  const rests = (): boolean => count("user_turn") > 0 && ws.types().at(-1) === "turn_ended";
  const asks = (): boolean => count("approve_request") > count("approval_resolved") && !rests();
  for (const { said, rounds, decision, queued } of turns) {
    provider.script(...rounds, says("That is all."));
    await ws.say(said);
    for (await ws.until(() => rests() || asks()); asks(); await ws.until(() => rests() || asks())) {
      if (queued) await ws.say("One more thing.");
      await decide(rig, ws.ws_id, decision);
    }
  }
  if (rewinds) await rig.engine.rewind(ws.ws_id, 1);
  return rig.store.journal.read(ws.ws_id, 0);
}

/** Settles all that is asked for at once, so that one resolution ends a cycle. */
async function decide({ engine }: Rig, ws_id: string, decision: Story["turns"][number]["decision"]): Promise<void> {
  if (decision === "cancel") {
    await engine.cancel(ws_id, false);
    return;
  }
  const [pending] = await engine.pendingApprovals(ws_id);
  const asked = (pending?.items ?? []).filter((item) => item.needs_approval).map((item) => item.call_id);
  const chosen = decision === "first_only" ? Object.fromEntries(asked.map((id, index) => [id, index === 0])) : null;
  await engine.approve(ws_id, { ...NO_REVIEW, approved: decision !== "no", calls: chosen, cycle_id: null });
}

function projected(entries: readonly JournalEntry[]): Conversation {
  const conversation = emptyConversation("w");
  for (const entry of entries) applyEntry(conversation, entry);
  return conversation;
}

/** What a strict provider would refuse; calls at the very end may still wait for their results. */
function faults(messages: readonly Message[], may_be_open: boolean): string[] {
  const found: string[] = [];
  if (messages.length > 0 && messages[0]?.role !== "user") found.push(`begins with ${messages[0]?.role}`);
  let wanted: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (wanted.shift() !== message.call_id) found.push(`a result of ${message.call_id} out of its place`);
      continue;
    }
    if (wanted.length > 0) found.push(`no result of ${wanted.join()} before the next message`);
    wanted = message.role === "assistant" ? message.tool_calls.map(({ id }) => id) : [];
  }
  if (wanted.length > 0 && !may_be_open) found.push(`no result of ${wanted.join()} at the end`);
  return found;
}

/** A workstream as a crash after these entries leaves it, in a store of its own rows. */
function stepOf(ws_id: string, prefix: readonly JournalEntry[]): Step {
  const entries = prefix.map((entry) => ({ ...entry, ws_id }));
  const at = entries.at(-1)?.at ?? "";
  const changes = entries.flatMap(({ event, seq }): Change[] => {
    if (event.type === "approve_request") {
      const row = {
        cycle_id: `${ws_id}.${event.cycle_id}`,
        ws_id,
        seq,
        items: event.items,
        decisions: {},
        state: "pending",
      };
      const open = { approved: null, decided_by: null, reason: null, decided: null, created: at, expires: null };
      return [{ kind: "approval_opened", approval: { ...row, ...open, state: "pending" } }];
    }
    return [];
  });
  for (const entry of entries) {
    if ("cycle_id" in entry.event) entry.event = { ...entry.event, cycle_id: `${ws_id}.${entry.event.cycle_id}` };
  }
  const turn_open = projected(entries).turn !== null;
  return { ws_id, at, entries, state: turn_open ? "running" : "idle", turn_open, changes };
}

function rowOf(ws_id: string): WorkstreamRow {
  const at = "2026-01-01T00:00:00.000Z";
  const names = { ws_id, name: ws_id, title: "It has one", alias: null, kind: "main" as const };
  const parents = { parent_ws_id: null, parent_call_id: null, user_id: null, model_alias: null };
  const approvals = { auto_approve: false, auto_approve_tools: [] };
  const numbers = { context_tokens: 0, last_seq: 0, message_count: 0 };
  return {
    ...names,
    ...parents,
    ...approvals,
    ...numbers,
    state: "idle",
    turn_open: false,
    created: at,
    updated: at,
    closed: null,
  };
}

test("each prefix of a journal is a valid conversation that knows what comes next (REQ-ENGINE-015)", async () => {
  const stage = await start([]);
  await fc.assert(
    fc.asyncProperty(story, async (made_up) => {
      const journal = await journalOf(stage, made_up);
      for (let length = 0; length <= journal.length; length += 1) {
        const { messages, turn } = projected(journal.slice(0, length));
        expect(faults(messages, turn !== null)).toEqual([]);
        if (turn === null) continue;
        const { kind } = nextAction(turn);
        expect(faults(messages, kind !== "call_model" && kind !== "finish")).toEqual([]);
      }
    }),
    { numRuns: 100 },
  );
});

test("a crash after any entry of a journal: the turn is carried to its end, and what had started is not done again", async () => {
  const stage = await start([]);
  const done: Done[] = [];
  const { rig, provider } = await start(done);
  let stories = 0;
  await fc.assert(
    fc.asyncProperty(story, async (made_up) => {
      const journal = await journalOf(stage, made_up);
      stories += 1;
      done.length = 0;
      const nameOf = (index: number): string => `w${stories}.${index}`;
      const prefixes = journal.map((_entry, index) => journal.slice(0, index + 1));
      for (const [index, prefix] of prefixes.entries()) {
        await rig.store.workstreams.create(rowOf(nameOf(index)));
        await rig.store.journal.commit(stepOf(nameOf(index), prefix));
      }
      await rig.engine.recover();
      for (const index of prefixes.keys()) await carryOn(rig, nameOf(index));
      for (const request of provider.requests) expect(faults(request.messages, false)).toEqual([]);
      const effects = done.map(({ ws_id, call_id }) => `${ws_id} ${call_id}`);
      expect(new Set(effects).size).toBe(effects.length);
      for (const [index, prefix] of prefixes.entries()) {
        const again = done.filter(({ ws_id, call_id }) => ws_id === nameOf(index) && wasBegun(prefix, call_id));
        expect(again).toEqual([]);
        await expectWhole(rig, nameOf(index), prefix);
      }
    }),
    { numRuns: 20 },
  );
}, 120_000);

/** Whether a call had started, been denied or ended when the server stopped: it must not have an effect after that. */
function wasBegun(prefix: readonly JournalEntry[], call_id: string): boolean {
  return prefix.some(({ event }) => {
    if (event.type === "approval_resolved") return event.calls[call_id] === false;
    return (event.type === "tool_started" || event.type === "tool_result") && event.call_id === call_id;
  });
}

/** A person says yes to whatever is still asked, until the turn is over. */
async function carryOn(rig: Rig, ws_id: string): Promise<void> {
  for (;;) {
    const snapshot = await rig.engine.snapshot(ws_id);
    if (snapshot?.state === "idle" || snapshot?.state === "error") return;
    if (snapshot?.state === "attention") {
      await rig.engine.approve(ws_id, { ...NO_REVIEW, approved: true, cycle_id: null });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What was written stays, the turn is closed, and each call has exactly one result. */
async function expectWhole(rig: Rig, ws_id: string, prefix: readonly JournalEntry[]): Promise<void> {
  const after = await rig.store.journal.read(ws_id, 0);
  expect(after.slice(0, prefix.length).map(({ event }) => event.type)).toEqual(prefix.map(({ event }) => event.type));
  const { messages, turn } = projected(after);
  expect(turn).toBeNull();
  expect(faults(messages, false)).toEqual([]);
  const results = after.flatMap(({ event }) => (event.type === "tool_result" ? [event.call_id] : []));
  expect(results).toHaveLength(new Set(results).size);
}
