import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { textArgument } from "../lib/arguments.ts";
import { unifiedDiff } from "../lib/diff.ts";
import { isSameState, readFileState, readWholeFile, type FileState } from "../lib/open_file.ts";
import { replaceFile, withFileLock } from "../lib/replace_file.ts";
import { decodeText } from "../lib/text_encoding.ts";
import { visible, visibleLine } from "../lib/visible.ts";
import { counted } from "../lib/words.ts";
import { describePath, leadsOut, stillLeadsTo, type ResolvedPath } from "../lib/workspace.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";

/** Beyond this a diff of a whole file is nothing that a person reads. */
const DIFF_BYTES_MAX = 2 * 1024 * 1024;

interface WritePlan {
  path: string;
  shown: string;
  real_path: string;
  content: string;
  /** What stood there when it was shown; null for a new file. */
  expected: FileState | null;
}

/** What stands at the path now. */
type Present =
  | { status: "nothing" }
  | { status: "file"; state: FileState; text: string | null }
  | { status: "failed"; error: string };

/** Writes a whole file. */
export function writeFileTool(): Tool {
  return { name: "write_file", prepare, execute: (plan, context) => execute(asPlan(plan), context) };
}

async function prepare(args: JsonObject, context: PrepareContext): Promise<Preparation> {
  const path = textArgument(args, "path");
  if (!path.ok) return path;
  const content = textArgument(args, "content");
  if (!content.ok) return content;
  if (!content.value.isWellFormed()) {
    return { ok: false, error: "content holds half a surrogate pair, which no file can hold. Send it without." };
  }
  const resolution = context.workspace.resolve(path.value);
  if (!resolution.ok) return resolution;
  const target = resolution.path;
  const named = describePath(target, context.workspace);
  if (leadsOut(target, context.workspace)) {
    return {
      ok: false,
      error: `${named}: this link leads out of the workspace. To write there, name ${target.real_path} itself.`,
    };
  }
  const present = await lookAt(target);
  if (present.status === "failed") return { ok: false, error: present.error };
  const expected = present.status === "file" ? present.state : null;
  const plan: WritePlan = {
    path: path.value,
    shown: target.shown,
    real_path: target.real_path,
    content: content.value,
    expected,
  };
  const is_unread = expected !== null && context.fileRead(target.real_path)?.hash !== expected.hash;
  return {
    ok: true,
    plan: { ...plan, expected: expected === null ? null : { ...expected } },
    header: `write_file: ${visibleLine(named)} (${expected === null ? "new file, " : ""}${sizeOf(content.value)})`,
    preview: await previewOf(present, content.value),
    needs_approval: true,
    approval_label: target.inside ? (is_unread ? "overwrite_file" : "write_file") : "write_outside_file",
    effect: "side_effect",
    resources: [target.real_path],
    subject: target.inside ? target.shown : target.real_path,
    notes: notesOn(target, is_unread),
    ...(is_unread ? { destructive: true } : {}),
  };
}

async function lookAt(target: ResolvedPath): Promise<Present> {
  const never = new AbortController().signal;
  const whole = await readWholeFile(target.real_path, target.shown, DIFF_BYTES_MAX, never);
  if (whole.status === "missing") return { status: "nothing" };
  if (whole.status === "read") {
    return { status: "file", state: whole.state, text: decodeText(whole.bytes)?.text ?? null };
  }
  if (whole.status === "failed") return whole;
  const large = await readFileState(target.real_path, target.shown, never);
  if (large.status === "read") return { status: "file", state: large.state, text: null };
  return { status: "failed", error: large.error };
}

async function previewOf(present: Present, content: string): Promise<string> {
  if (present.status !== "file" || present.text === null) return visible(content);
  const diff = await unifiedDiff(present.text, content);
  if (diff === "") return "(the content is the same as before)";
  return visible(diff ?? content);
}

function notesOn(target: ResolvedPath, is_unread: boolean): string[] {
  const notes: string[] = [];
  if (!target.inside) notes.push("This file is outside the workspace.");
  if (is_unread) notes.push("The present content was not read in this session and will be overwritten.");
  return notes;
}

async function execute(plan: WritePlan, context: ToolContext): Promise<ToolOutput> {
  const { shown, real_path, content } = plan;
  return withFileLock(real_path, async () => {
    if (!stillLeadsTo(context.workspace, plan.path, real_path)) {
      return failure(
        `${shown} leads to another place than when this call was shown, so nothing was written. Call write_file again.`,
      );
    }
    const changed = await changeSince(plan, context);
    if (changed !== null) return failure(changed);
    const written = await replaceFile(real_path, shown, Buffer.from(content, "utf8"));
    if (!written.ok) return failure(written.error);
    const output = `${plan.expected === null ? "Created" : "Replaced"} ${shown} (${sizeOf(content)}).`;
    return { output, is_error: false, effect: "done", files: [{ real_path, ...written.state }] };
  });
}

/** Why the file is not what was shown; null when it is, or when this session's own last call made it what it is. */
async function changeSince(plan: WritePlan, context: ToolContext): Promise<string | null> {
  const { shown, real_path, expected } = plan;
  const now = await readFileState(real_path, shown, context.signal);
  if (now.status === "missing") {
    return expected === null
      ? null
      : `${shown} was removed after this call was shown, so nothing was written. Call write_file again.`;
  }
  if (now.status !== "read") return now.error;
  const known = context.fileRead(real_path);
  if (isSameState(now.state, expected ?? undefined) || isSameState(now.state, known)) return null;
  return `${shown} was changed after this call was shown, so nothing was written. Read it again with read_file.`;
}

function sizeOf(content: string): string {
  const lines = content === "" ? 0 : content.split("\n").length - (content.endsWith("\n") ? 1 : 0);
  return `${counted(lines, "line")}, ${counted(Buffer.byteLength(content), "byte")}`;
}

function failure(error: string): ToolOutput {
  return { output: error, is_error: true, effect: "none" };
}

/** A plan comes back from the store: what it is was decided by `prepare`. */
function asPlan(plan: JsonValue): WritePlan {
  if (!isJsonObject(plan)) throw new Error("The plan of a write_file call is not an object.");
  return plan as unknown as WritePlan;
}
