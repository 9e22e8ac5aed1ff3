import type { FileRecord, ReviewAnswer, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { readWholeFile } from "../lib/open_file.ts";
import { replaceFile, withFileLock } from "../lib/replace_file.ts";
import { decodeText } from "../lib/text_encoding.ts";
import { leadsOut } from "../lib/workspace.ts";
import type { JsonValue } from "../protocol/json.ts";
import { prepareDelegation, promptIn } from "./delegation.ts";

/** Drafts that people review; who still wants changes then is better served by talking. */
export const PLAN_ROUNDS_MAX = 5;

/** A plan that a person reads is far smaller. */
const PLAN_BYTES_MAX = 1024 * 1024;

/** Ids are made by the server or checked at its border; this keeps the file's name a name, whatever comes. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Has a plan made and reviewed. After a restart the same planner and reviews are taken up, found by the call. */
export function planTool(): Tool {
  return { name: "plan", prepare: (args) => prepareDelegation("plan", args), execute: run, resume: run };
}

async function run(kept: JsonValue, context: ToolContext): Promise<ToolOutput> {
  const earlier = await earlierPlan(context);
  let prompt = promptIn(kept);
  let last: Draft | null = null;
  for (let round = 1; ; round += 1) {
    const context_of_round = round === 1 && earlier !== null ? { context: earlier } : {};
    const made = await context.delegate({ kind: "plan", prompt, round, ...context_of_round });
    const { usage = {} } = made;
    if (!made.ok) return { ...failure(made.error, last), usage };
    const draft: Draft = { text: made.text, file: await writePlan(made.text, context) };
    const answer = await context.review({ content: draft.text, round });
    if (answer.decision !== "changes" || round >= PLAN_ROUNDS_MAX) return { ...outcome(draft, answer), usage };
    prompt = changesPrompt(answer);
    last = { ...draft, feedback: answer.feedback };
  }
}

interface Draft {
  text: string;
  file: WrittenPlan;
  /** What a person asked to be changed. */
  feedback?: string;
}

type WrittenPlan = { ok: true; shown: string; record: FileRecord } | { ok: false; error: string };

type Changes = Extract<ReviewAnswer, { decision: "changes" }>;

function changesPrompt({ feedback, by }: Changes): string {
  return `${by ?? "A person"} reviewed the plan and asks for changes:\n\n${feedback}\n\nAnswer with the whole plan, revised.`;
}

function outcome(draft: Draft, answer: ReviewAnswer): ToolOutput {
  const { text, file } = draft;
  const unwritten = file.ok ? "" : `\n\n[The plan could not be written into the workspace: ${file.error}]`;
  const common = { is_error: false, effect: "done" as const, ...(file.ok ? { files: [file.record] } : {}) };
  switch (answer.decision) {
    case "accepted":
      return {
        ...common,
        output: `${text}${unwritten}`,
        display: `Accepted${file.ok ? `; it stands in ${file.shown}` : ""}.`,
      };
    case "skipped":
      return { ...common, output: `${text}${unwritten}` };
    case "rejected": {
      const words = `${answer.by ?? "A person"} rejected this plan. Do not implement it, or any part of it; ask what is wanted instead.`;
      return { ...common, output: `${words}\n\nThe rejected plan:\n\n${text}`, display: "Rejected." };
    }
    case "changes": {
      const words = `[After ${PLAN_ROUNDS_MAX} drafts ${answer.by ?? "a person"} still asks for changes, which are not in the plan above; talk them over before you implement anything:]`;
      return {
        ...common,
        output: `${text}${unwritten}\n\n${words}\n\n${answer.feedback}`,
        display: "Changes are still asked for.",
      };
    }
    default:
      return answer satisfies never;
  }
}

/** Nobody reviews a failure; a draft that was there already is not lost with it. */
function failure(error: string, last: Draft | null): ToolOutput {
  if (last === null) return { output: error, is_error: true, effect: "none" };
  const asked = `Changes were asked for:\n\n${last.feedback ?? ""}`;
  return { output: `${error}\n\nThe plan before that:\n\n${last.text}\n\n${asked}`, is_error: true, effect: "done" };
}

type PlanFile = { ok: true; real_path: string; shown: string } | { ok: false; error: string };

/** Where the plan of this workstream stands: one file each, in the workspace itself and not behind a link. */
function planFile({ ws_id, workspace }: ToolContext): PlanFile {
  if (!SAFE_ID.test(ws_id)) return { ok: false, error: "the id of this workstream cannot be part of a file's name." };
  const resolution = workspace.resolve(`.plan-${ws_id}.md`);
  if (!resolution.ok) return resolution;
  const { path } = resolution;
  const { real_path, shown } = path;
  if (leadsOut(path, workspace)) return { ok: false, error: `${shown} is a link that leads out of the workspace.` };
  return { ok: true, real_path, shown };
}

/** The plan that a former call left in the workspace; null where there is none that can be read. */
async function earlierPlan(context: ToolContext): Promise<string | null> {
  const file = planFile(context);
  if (!file.ok) return null;
  const read = await readWholeFile(file.real_path, file.shown, PLAN_BYTES_MAX, context.signal);
  const text = read.status === "read" ? (decodeText(read.bytes)?.text.trim() ?? "") : "";
  return text === "" ? null : text;
}

async function writePlan(text: string, context: ToolContext): Promise<WrittenPlan> {
  const file = planFile(context);
  if (!file.ok) return file;
  const { real_path, shown } = file;
  const replaced = await withFileLock(real_path, () =>
    replaceFile(real_path, shown, Buffer.from(`${text.trimEnd()}\n`)),
  );
  if (!replaced.ok) return replaced;
  return { ok: true, shown, record: { real_path, ...replaced.state } };
}
