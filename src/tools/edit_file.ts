import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { integerArgument, textArgument } from "../lib/arguments.ts";
import { unifiedDiff } from "../lib/diff.ts";
import { isSameState, readWholeFile, type FileState } from "../lib/open_file.ts";
import { replaceFile, withFileLock } from "../lib/replace_file.ts";
import { decodeText, encodeText, ENCODING_NAMES, type DecodedText } from "../lib/text_encoding.ts";
import {
  findMatches,
  lineUpToSpace,
  nearestMatch,
  replacementFor,
  withoutGutter,
  type Match,
} from "../lib/text_edit.ts";
import { visible, visibleLine } from "../lib/visible.ts";
import { describePath, leadsOut, stillLeadsTo } from "../lib/workspace.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";

/** Larger files are data, for which a program is the better editor. */
const EDIT_BYTES_MAX = 32 * 1024 * 1024;

/** Characters on either side of a match by which it is known again after another edit of the file. */
const CONTEXT_CHARACTERS = 200;

/** Line numbers that an error lists. */
const LISTED_LINES_MAX = 20;

/** Lines that the preview shows before and after the match. */
const PREVIEW_LINES = 3;

interface Wanted {
  old_string: string;
  new_string: string;
  near_line: number | null;
}

interface EditPlan extends Wanted {
  path: string;
  shown: string;
  real_path: string;
  expected: FileState;
  /** Whether the match was the only one. */
  unique: boolean;
  /** What stood around the match when it was shown. */
  before: string;
  after: string;
}

interface LoadedFile extends DecodedText {
  bytes: Buffer;
  state: FileState;
}

type Failure = { ok: false; error: string };
type Location = { ok: true; match: Match; unique: boolean; verbatim: boolean } | Failure;

/** Replaces one place in a file that was read. */
export function editFileTool(): Tool {
  return { name: "edit_file", prepare, execute: (plan, context) => execute(asPlan(plan), context) };
}

async function prepare(args: JsonObject, context: PrepareContext): Promise<Preparation> {
  const path = textArgument(args, "path");
  if (!path.ok) return path;
  const wanted = wantedEdit(args);
  if (!wanted.ok) return wanted;
  const resolution = context.workspace.resolve(path.value);
  if (!resolution.ok) return resolution;
  const { real_path, shown, inside } = resolution.path;
  const named = describePath(resolution.path, context.workspace);
  if (leadsOut(resolution.path, context.workspace)) {
    return {
      ok: false,
      error: `${named}: this link leads out of the workspace. To edit there, read and name ${real_path} itself.`,
    };
  }
  const file = await load(real_path, shown, new AbortController().signal);
  if (!file.ok) return file;
  const known = context.fileRead(real_path);
  if (known === undefined) {
    return { ok: false, error: `${shown} was not read in this session. Read it with read_file first, then edit.` };
  }
  if (!isSameState(file.state, known)) {
    return { ok: false, error: `${shown} changed since it was read. Read it again with read_file, then edit.` };
  }
  const found = locate(file.text, shown, wanted.edit);
  if (!found.ok) return found;
  const edited = splice(file, found, wanted.edit, shown);
  if (!edited.ok) return edited;
  const { match } = found;
  const plan = {
    ...wanted.edit,
    path: path.value,
    shown,
    real_path,
    expected: { ...file.state },
    unique: found.unique,
    before: file.text.slice(Math.max(0, match.start - CONTEXT_CHARACTERS), match.start),
    after: file.text.slice(match.end, match.end + CONTEXT_CHARACTERS),
  };
  return {
    ok: true,
    plan,
    header: `edit_file: ${visibleLine(named)} (line ${match.line})`,
    preview: await previewOf(file.text, match, edited.replacement),
    needs_approval: true,
    effect: "side_effect",
    resources: [real_path],
    subject: inside ? shown : real_path,
    ...(inside ? {} : { approval_label: "edit_outside_file", notes: ["This file is outside the workspace."] }),
  };
}

function wantedEdit(args: JsonObject): { ok: true; edit: Wanted } | Failure {
  const old_string = textArgument(args, "old_string");
  if (!old_string.ok) return old_string;
  const new_string = textArgument(args, "new_string");
  if (!new_string.ok) return new_string;
  if (old_string.value === "") {
    return { ok: false, error: "old_string is empty. Give the text to replace; to make a new file use write_file." };
  }
  if (old_string.value === new_string.value) {
    return { ok: false, error: "old_string and new_string are the same, so there is nothing to change." };
  }
  if (!new_string.value.isWellFormed()) {
    return { ok: false, error: "new_string holds half a surrogate pair, which no file can hold." };
  }
  const near_line = integerArgument(args, "near_line", 1);
  const edit = {
    old_string: old_string.value,
    new_string: new_string.value,
    near_line: near_line.ok ? near_line.value : null,
  };
  return { ok: true, edit };
}

async function load(
  real_path: string,
  shown: string,
  signal: AbortSignal,
): Promise<({ ok: true } & LoadedFile) | Failure> {
  const file = await readWholeFile(real_path, shown, EDIT_BYTES_MAX, signal);
  if (file.status !== "read") return { ok: false, error: file.error };
  const decoded = decodeText(file.bytes);
  if (decoded === null) return { ok: false, error: `${shown} is a binary file, which edit_file cannot change.` };
  return { ok: true, bytes: file.bytes, state: file.state, ...decoded };
}

function locate(text: string, shown: string, wanted: Wanted): Location {
  const search = findMatches(text, wanted.old_string);
  if (search.status === "none") return { ok: false, error: notFound(text, shown, wanted.old_string) };
  if (search.status === "too_many") {
    return { ok: false, error: `old_string stands in ${shown} too often. Give more of the text around the place.` };
  }
  const { matches, verbatim } = search;
  const unique = matches.length === 1;
  const match = unique ? matches[0] : wanted.near_line === null ? undefined : nearestMatch(matches, wanted.near_line);
  if (match !== undefined) return { ok: true, match, unique, verbatim };
  return { ok: false, error: ambiguous(matches, shown) };
}

function ambiguous(matches: readonly Match[], shown: string): string {
  const lines = matches.slice(0, LISTED_LINES_MAX).map((match) => match.line);
  const more = matches.length > lines.length ? " and more" : "";
  const places = `${matches.length} times in ${shown}, on lines ${lines.join(", ")}${more}`;
  return `old_string stands ${places}. Give more of the text around it, or near_line.`;
}

function notFound(text: string, shown: string, old_string: string): string {
  const bare = withoutGutter(old_string);
  if (bare !== null && findMatches(text, bare).status !== "none") {
    return `old_string begins with line numbers. They and the tab after them are not in ${shown}: leave them out.`;
  }
  const line = lineUpToSpace(text, old_string);
  const hint =
    line === null
      ? "Read the file again and copy the text exactly."
      : `A text that differs only in white space is on line ${line}: copy it exactly as read_file shows it.`;
  return `old_string was not found in ${shown}. ${hint}`;
}

type Spliced = { ok: true; bytes: Buffer; replacement: string } | Failure;

/** Cuts in bytes, so that whatever the text around is, it stays. */
function splice(file: LoadedFile, place: { match: Match; verbatim: boolean }, wanted: Wanted, shown: string): Spliced {
  const { text, encoding, bytes, mark_bytes } = file;
  const { start, end } = place.match;
  const matched = text.slice(start, end);
  const replacement = place.verbatim ? wanted.new_string : replacementFor(matched, wanted.new_string, text);
  const new_bytes = encodeText(replacement, encoding);
  const head = encodeText(text.slice(0, start), encoding);
  const middle = encodeText(matched, encoding);
  if (new_bytes === null || head === null || middle === null) {
    return {
      ok: false,
      error: `${shown} is encoded as ${ENCODING_NAMES[encoding]}, which has no place for a character of new_string.`,
    };
  }
  const from = mark_bytes + head.length;
  return {
    ok: true,
    replacement,
    bytes: Buffer.concat([bytes.subarray(0, from), new_bytes, bytes.subarray(from + middle.length)]),
  };
}

/** A diff of the lines around the match alone, since the rest of a large file is the same. */
async function previewOf(text: string, match: Match, replacement: string): Promise<string> {
  let from = match.start;
  for (let lines = 0; lines <= PREVIEW_LINES && from > 0; lines += 1) from = text.lastIndexOf("\n", from - 1);
  from = from <= 0 ? 0 : from + 1;
  let to = match.end;
  for (let lines = 0; lines <= PREVIEW_LINES && to < text.length; lines += 1) {
    const next = text.indexOf("\n", to);
    to = next === -1 ? text.length : next + 1;
  }
  const first_line = match.line - (text.slice(from, match.start).split("\n").length - 1);
  const before = text.slice(from, to);
  const after = text.slice(from, match.start) + replacement + text.slice(match.end, to);
  const diff = await unifiedDiff(before, after, first_line);
  return visible(diff ?? `- ${before.split("\n").join("\n- ")}\n+ ${after.split("\n").join("\n+ ")}`);
}

async function execute(plan: EditPlan, context: ToolContext): Promise<ToolOutput> {
  const { shown, real_path } = plan;
  return withFileLock(real_path, async () => {
    if (!stillLeadsTo(context.workspace, plan.path, real_path)) {
      return failure(
        `${shown} leads to another place than when this edit was shown, so nothing was changed. Read it again.`,
      );
    }
    const file = await load(real_path, shown, context.signal);
    if (!file.ok) return failure(file.error);
    const found = findShownPlace(file, plan, context);
    if (!found.ok) return failure(found.error);
    const edited = splice(file, found, plan, shown);
    if (!edited.ok) return failure(edited.error);
    const written = await replaceFile(real_path, shown, edited.bytes);
    if (!written.ok) return failure(written.error);
    const output = `Edited ${shown}: replaced 1 occurrence at line ${found.match.line}.`;
    return { output, is_error: false, effect: "done", files: [{ real_path, ...written.state }] };
  });
}

/**
 * The place that was shown. In the file as it was that is found as before. After another edit of this session it is
 * the only match, or the one with the same text around: line numbers may have moved since.
 */
function findShownPlace(file: LoadedFile, plan: EditPlan, context: ToolContext): Location {
  if (isSameState(file.state, plan.expected)) return locate(file.text, plan.shown, plan);
  if (!isSameState(file.state, context.fileRead(plan.real_path))) {
    return {
      ok: false,
      error: `${plan.shown} was changed after this edit was shown, so the edit was not made. Read it again first.`,
    };
  }
  const search = findMatches(file.text, plan.old_string);
  if (search.status !== "found") return locate(file.text, plan.shown, plan);
  const [first, ...others] = search.matches
    .map((match) => ({ match, sides: sidesAsShown(file.text, match, plan) }))
    .toSorted((a, b) => b.sides - a.sides);
  const is_alone = plan.unique && others.length === 0;
  const is_known = first !== undefined && first.sides > (others[0]?.sides ?? 0);
  if (first !== undefined && (is_alone || is_known)) {
    return { ok: true, match: first.match, unique: is_alone, verbatim: search.verbatim };
  }
  return {
    ok: false,
    error: `After an earlier edit of ${plan.shown} the place that was shown is no longer certain. Read it again first.`,
  };
}

/** On how many sides of a match the text is what it was around the place that was shown. */
function sidesAsShown(text: string, match: Match, plan: EditPlan): number {
  const same_before = text.slice(Math.max(0, match.start - CONTEXT_CHARACTERS), match.start) === plan.before;
  const same_after = text.slice(match.end, match.end + CONTEXT_CHARACTERS) === plan.after;
  return Number(same_before) + Number(same_after);
}

function failure(error: string): ToolOutput {
  return { output: error, is_error: true, effect: "none" };
}

/** A plan comes back from the store: what it is was decided by `prepare`. */
function asPlan(plan: JsonValue): EditPlan {
  if (!isJsonObject(plan)) throw new Error("The plan of an edit_file call is not an object.");
  return plan as unknown as EditPlan;
}
