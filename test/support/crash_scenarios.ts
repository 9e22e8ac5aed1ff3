import { reply, type Reply } from "./model_server/reply.ts";
import type { RecordedRequest } from "./model_server/model_server.ts";
import { isRecord, listIn } from "./model_server/wire.ts";

/** What people do while the processes die and come back, and what must have happened in the end. */
export interface CrashScenario {
  name: string;
  speaker: "Ada" | "Ben";
  /** The first message; `key` makes the run's own names. */
  opening(key: string): string;
  /** What the model says; it depends on nothing but the request, so that a repeated one gets the same. */
  answer(request: RecordedRequest, key: string): Reply;
  /** Buttons that Ada presses as long as they can be pressed, one after another. */
  presses: readonly string[];
  /** A second message, said once as soon as there is something to press. */
  interjection?(key: string): string;
  /** Files of the workspace and the lines that each ends with. */
  effects(key: string): Record<string, string[]>;
  /** What Ben is sent by DM, once. */
  notice?(key: string): string;
  /** Nothing is pressed before a file of the workspace is there. */
  presses_after?(key: string): string;
  /** How it ends depends on who was first, the person or the death: only the rules that always hold are checked. */
  open_ended?: true;
}

const PACE_MS = 12;
const CHARACTERS_PER_TOKEN = 4;
const OUTCOME_UNKNOWN = "its outcome is unknown";

/** Results that the model has been given since the person's first message. */
function results(request: RecordedRequest): number {
  return listIn(request.body["messages"]).filter((message) => isRecord(message) && message["role"] === "tool").length;
}

function says(text: string): Reply {
  return reply.text(text, { pace_ms: PACE_MS });
}

function bash(...commands: string[]): Reply {
  return reply.toolCalls(commands.map((command) => ({ name: "bash", arguments: { command } })));
}

/** Three of these are worth a summary, and one whose outcome is unknown does not change that. */
const MUCH_OUTPUT = "head -c 24000 /dev/zero | tr '\\0' x";

const once = (key: string, name = "file"): string => `echo ${name} >> ${key}-${name}.txt`;

export const CRASH_SCENARIOS: readonly CrashScenario[] = [
  {
    name: "message",
    speaker: "Ada",
    opening: (key) => `${key} what is the capital of Iceland?`,
    answer: () => says("The capital of Iceland is Reykjavík, as far as I know."),
    presses: [],
    effects: () => ({}),
  },
  {
    name: "approval",
    speaker: "Ada",
    opening: (key) => `${key} write the file`,
    answer: (request, key) => (results(request) === 0 ? bash(once(key)) : says("The file is written now.")),
    presses: ["Approve"],
    effects: (key) => ({ [`${key}-file.txt`]: ["file"] }),
  },
  {
    name: "tool",
    speaker: "Ben",
    opening: (key) => `${key} write two files, one after the other`,
    answer(request, key) {
      const done = results(request);
      return done < 2 ? bash(once(key, done === 0 ? "first" : "second")) : says("Both files are written now.");
    },
    presses: [],
    effects: (key) => ({ [`${key}-first.txt`]: ["first"], [`${key}-second.txt`]: ["second"] }),
  },
  {
    name: "parallel",
    speaker: "Ben",
    opening: (key) => `${key} write three files at once`,
    answer: (request, key) =>
      results(request) === 0
        ? bash(once(key, "one"), once(key, "two"), once(key, "three"))
        : says("All three are there."),
    presses: [],
    effects: (key) => ({ [`${key}-one.txt`]: ["one"], [`${key}-two.txt`]: ["two"], [`${key}-three.txt`]: ["three"] }),
  },
  {
    name: "plan",
    speaker: "Ada",
    opening: (key) => `${key} make a plan`,
    answer(request, key) {
      if (request.first_user_text.includes("PLANNER")) return says("First the one thing, then the other.");
      if (results(request) > 0) return says("The plan is accepted, so I can begin.");
      return reply.toolCalls([{ name: "plan", arguments: { prompt: `PLANNER ${key} how to do it` } }]);
    },
    presses: ["Approve", "Accept"],
    effects: () => ({}),
  },
  {
    name: "task",
    speaker: "Ada",
    opening: (key) => `${key} let a helper write the file`,
    answer(request, key) {
      if (!request.first_user_text.includes("HELPER")) {
        if (results(request) > 0) return says("The helper has come back.");
        return reply.toolCalls([{ name: "task", arguments: { prompt: `HELPER ${key} write the file` } }]);
      }
      if (results(request) === 0) return bash(once(key));
      // What the helper does not know, nobody knows: it is told on, so that it stands in the conversation.
      return says(
        request.raw_body.includes(OUTCOME_UNKNOWN) ? `I wrote, but ${OUTCOME_UNKNOWN}.` : "I wrote the file.",
      );
    },
    presses: ["Approve"],
    effects: (key) => ({ [`${key}-file.txt`]: ["file"] }),
  },
  {
    name: "compaction",
    speaker: "Ben",
    opening: (key) => `${key} write three files, and look at much`,
    answer(request, key) {
      if (request.system_text.startsWith("You summarise")) return says(`${key}: all three files are written.`);
      if (request.raw_body.includes("[Summary of the conversation so far]")) return says("I go by my summary now.");
      const name = ["one", "two", "three"][results(request)];
      if (name !== undefined) {
        const command = `${once(key, name)}; ${MUCH_OUTPUT}`;
        const usage = { input: Math.ceil(request.raw_body.length / CHARACTERS_PER_TOKEN), output: 30 };
        return reply.toolCalls([{ name: "bash", arguments: { command } }], { usage });
      }
      return reply.status(400, { message: "This model's maximum context length is 8192 tokens" });
    },
    presses: [],
    effects: (key) => ({ [`${key}-one.txt`]: ["one"], [`${key}-two.txt`]: ["two"], [`${key}-three.txt`]: ["three"] }),
  },
  {
    name: "notify",
    speaker: "Ada",
    opening: (key) => `${key} tell Ben`,
    answer: (request, key) =>
      results(request) === 0
        ? reply.toolCalls([{ name: "notify", arguments: { username: "Ben", message: `${key} it is time` } }])
        : says("Ben has been told about it."),
    presses: [],
    effects: () => ({}),
    notice: (key) => `${key} it is time`,
  },
  {
    name: "queue",
    speaker: "Ada",
    opening: (key) => `${key} write the file`,
    answer(request, key) {
      if (results(request) === 0) return bash(once(key));
      return says(request.raw_body.includes("one more thing") ? "Both things are done." : "The first thing is done.");
    },
    presses: ["Approve"],
    interjection: () => "and one more thing",
    effects: (key) => ({ [`${key}-file.txt`]: ["file"] }),
    open_ended: true,
  },
  {
    name: "cancel",
    speaker: "Ben",
    opening: (key) => `${key} work for a long time`,
    answer: (request, key) =>
      results(request) === 0
        ? bash(`echo begun >> ${key}-file.txt; sleep 60; echo ended >> ${key}-file.txt`)
        : says("I was interrupted in my work."),
    presses: ["Stop"],
    presses_after: (key) => `${key}-file.txt`,
    effects: (key) => ({ [`${key}-file.txt`]: ["begun"] }),
    open_ended: true,
  },
];
