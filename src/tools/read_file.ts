import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { integerArgument, textArgument } from "../lib/arguments.ts";
import { imageFacts, sendableImage, type ImageFacts } from "../lib/image.ts";
import { readLines, type LineRange, type ReadLine, type ReadText } from "../lib/line_reader.ts";
import { describeFileError, FILE_BYTES_MAX, openRegularFile, readWholeFile } from "../lib/open_file.ts";
import { ENCODING_NAMES } from "../lib/text_encoding.ts";
import { visibleLine } from "../lib/visible.ts";
import { counted } from "../lib/words.ts";
import { describePath, stillLeadsTo } from "../lib/workspace.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";

/** Enough for most source files, and a bearable part of a context. */
const LINES_DEFAULT = 2000;

/** Longer lines are generated text, of which the beginning says what it is. */
const LINE_CHARACTERS_MAX = 8000;

/** Anthropic takes 5 MB of base64 a picture; base64 adds a third. */
const IMAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Left free below the result's limit for the notes at the end. */
const NOTES_CHARACTERS = 600;

interface ReadPlan {
  path: string;
  shown: string;
  real_path: string;
  offset: number | null;
  limit: number | null;
}

/** Reads a text file by lines, or a picture. */
export function readFileTool(): Tool {
  return { name: "read_file", prepare, execute: (plan, context) => execute(asPlan(plan), context) };
}

function prepare(args: JsonObject, context: PrepareContext): Preparation {
  const path = textArgument(args, "path");
  if (!path.ok) return path;
  const offset = integerArgument(args, "offset", 1);
  if (!offset.ok) return offset;
  const limit = integerArgument(args, "limit", 1);
  if (!limit.ok) return limit;
  const resolution = context.workspace.resolve(path.value);
  if (!resolution.ok) return resolution;
  const { real_path, inside, shown } = resolution.path;
  const named = describePath(resolution.path, context.workspace);
  const plan: ReadPlan = { path: path.value, shown, real_path, offset: offset.value, limit: limit.value };
  return {
    ok: true,
    plan: { ...plan },
    header: `read_file: ${visibleLine(named)}${rangeInWords(offset.value, limit.value)}`,
    preview: "",
    needs_approval: !inside,
    effect: "none",
    resources: [real_path],
    subject: inside ? shown : real_path,
    ...(inside ? {} : { approval_label: "read_outside_file", notes: ["This file is outside the workspace."] }),
  };
}

function rangeInWords(offset: number | null, limit: number | null): string {
  if (limit !== null) return ` (lines ${offset ?? 1}–${(offset ?? 1) + limit - 1})`;
  return offset === null ? "" : ` (from line ${offset})`;
}

async function execute(plan: ReadPlan, context: ToolContext): Promise<ToolOutput> {
  if (!stillLeadsTo(context.workspace, plan.path, plan.real_path)) {
    return failure(`${plan.shown} leads to another place than when this call was prepared. Call read_file again.`);
  }
  const opened = await openRegularFile(plan.real_path, plan.shown);
  if (opened.status !== "open") return failure(opened.error);
  try {
    const text = await readLines(opened, lineRange(plan, context), context.signal);
    if (text.status === "picture") return await readImage(plan, context);
    return textOutput(plan, text, opened.mtime_ms);
  } catch (error) {
    if (context.signal.aborted) return failure(`Reading ${plan.shown} was cancelled.`);
    return failure(describeFileError(error, plan.shown));
  } finally {
    // Closing what was only read can tell nothing that the answer would have to wait for.
    void opened.handle.close().catch(() => undefined);
  }
}

function lineRange(plan: ReadPlan, context: ToolContext): LineRange {
  const characters_max = Math.max(context.output_limit - NOTES_CHARACTERS, 1000);
  return {
    first: plan.offset ?? 1,
    count: plan.limit ?? LINES_DEFAULT,
    characters_max,
    line_characters_max: Math.min(LINE_CHARACTERS_MAX, Math.floor(characters_max / 2)),
    file_bytes_max: FILE_BYTES_MAX,
  };
}

function textOutput(plan: ReadPlan, text: Exclude<ReadText, { status: "picture" }>, mtime_ms: number): ToolOutput {
  const { shown } = plan;
  if (text.status === "binary") {
    return failure(`${shown} is a binary file (it holds NUL bytes), so it cannot be read as text.`);
  }
  if (text.status === "too_large") {
    return failure(`${shown} is larger than 4 GiB. Use bash with sed, head or tail for a part of it.`);
  }
  const files = [{ real_path: plan.real_path, mtime_ms, hash: text.hash }];
  const { total_lines, lines } = text;
  if (total_lines === 0) {
    return { output: `${shown} is empty (0 lines).`, is_error: false, effect: "none", display: "0 lines", files };
  }
  const first = plan.offset ?? 1;
  if (first > total_lines) {
    return failure(
      `${shown} has ${counted(total_lines, "line")}, so there is nothing at offset ${first}. Use a smaller offset.`,
    );
  }
  const last = first + lines.length - 1;
  const is_whole = first === 1 && last === total_lines;
  const body = lines.map((line, index) => numberedLine(first + index, line)).join("\n");
  const notes = notesOn(text, first, last, is_whole);
  return {
    output: notes.length === 0 ? body : `${body}\n\n${notes.join("\n")}`,
    is_error: false,
    effect: "none",
    display: is_whole ? counted(total_lines, "line") : `lines ${first}–${last} of ${total_lines}`,
    files,
  };
}

function numberedLine(number: number, line: ReadLine): string {
  const clipped =
    line.clipped_of_bytes === null ? "" : ` … [line clipped: it has ${counted(line.clipped_of_bytes, "byte")}]`;
  return `${String(number).padStart(6)}\t${line.text}${clipped}`;
}

function notesOn(
  text: Extract<ReadText, { status: "read" }>,
  first: number,
  last: number,
  is_whole: boolean,
): string[] {
  const notes: string[] = [];
  const { total_lines, crlf_lines, lf_lines, encoding } = text;
  if (!is_whole) {
    const more = last < total_lines ? ` Go on with offset ${last + 1}.` : "";
    notes.push(`[Lines ${first}–${last} of ${total_lines}.${more}]`);
  }
  if (text.lines.some((line) => line.clipped_of_bytes !== null)) {
    notes.push("[A clipped line can be read in parts with bash, such as cut -c.]");
  }
  if (encoding === "latin-1") notes.push("[Not valid UTF-8: shown, and edited, as Latin-1.]");
  else if (encoding !== "utf-8") notes.push(`[Encoded as ${ENCODING_NAMES[encoding]}; edits keep that.]`);
  if (crlf_lines > 0) {
    const which =
      lf_lines === 0 ? "Lines end in CRLF" : `${crlf_lines} of ${total_lines} lines end in CRLF, the others in LF`;
    notes.push(`[${which}; edits with plain line breaks keep that.]`);
  }
  return notes;
}

async function readImage(plan: ReadPlan, context: ToolContext): Promise<ToolOutput> {
  const { shown, real_path } = plan;
  const file = await readWholeFile(real_path, shown, IMAGE_BYTES_MAX, context.signal);
  if (file.status === "too_large") {
    return failure(`${shown} is a picture of more than 4 MB, which is too large to read. Make a smaller copy first.`);
  }
  if (file.status !== "read") return failure(file.error);
  const facts = imageFacts(file.bytes);
  if (facts === null) return failure(`${shown} changed while it was read. Call read_file again.`);
  const files = [{ real_path, ...file.state }];
  const about = `${shown}: ${describeImage(facts)}, ${counted(file.bytes.length, "byte")}`;
  const described = (reason: string): ToolOutput => ({
    output: `${about}. ${reason}`,
    is_error: false,
    effect: "none",
    files,
  });
  if (!context.model.supports_vision) {
    return described("This model cannot see pictures, so only this description is given.");
  }
  const image = await sendableImage(file.bytes, facts);
  if (image.status === "unsupported") return described(`It is not shown: ${image.reason}.`);
  const filename = shown.slice(shown.lastIndexOf("/") + 1);
  const { media_type, width, height } = image;
  const reference = await context.saveAttachment(image.bytes, { filename, media_type, width, height });
  const converted = image.converted ? ` Shown as PNG, ${width}×${height}.` : "";
  return { output: `${about}.${converted}`, is_error: false, effect: "none", images: [reference], files };
}

function describeImage(facts: ImageFacts): string {
  const size = facts.width === null || facts.height === null ? "of unknown size" : `${facts.width}×${facts.height}`;
  return `${facts.format.toUpperCase()} picture, ${size}`;
}

function failure(error: string): ToolOutput {
  return { output: error, is_error: true, effect: "none" };
}

/** A plan comes back from the store: what it is was decided by `prepare`. */
function asPlan(plan: JsonValue): ReadPlan {
  if (!isJsonObject(plan)) throw new Error("The plan of a read_file call is not an object.");
  return plan as unknown as ReadPlan;
}
