import { clip, isBlank } from "./defuse.ts";
import { segmentsOf, type Segment } from "./segments.ts";
import { MESSAGE_LENGTH_MAX, splitText } from "./split.ts";
import { alignTable, TABLE_WIDTH_MAX } from "./table.ts";
import { textView, type TextView, type ViewFile } from "./view.ts";

/** More messages than this bury the conversation: the beginning and the whole as a file instead. */
export const ANSWER_MESSAGES_MAX = 4;
/** Longer code is read in an editor. */
export const CODE_LINES_MAX = 60;
/** Kept free under each answer for the footer, which comes later. */
export const FOOTER_LENGTH_MAX = 120;
const ANSWER_PART_LENGTH = MESSAGE_LENGTH_MAX - FOOTER_LENGTH_MAX;
/** Of a long answer that goes into a file, this much is shown. */
const HEAD_LENGTH = 1500;
/** Discord takes ten files a message. */
const FILES_MAX = 10;
/** While an answer grows, no more of it is laid out than can be shown. */
const STREAMED_LENGTH_MAX = ANSWER_PART_LENGTH * ANSWER_MESSAGES_MAX;

const encoder = new TextEncoder();

/** The messages that show a finished answer. Blank text gives none. The footer, where known, stands under the last. */
export function answerViews(text: string, footer: string | null): TextView[] {
  if (isBlank(text)) return [];
  const files: ViewFile[] = [];
  const shown = segmentsOf(text)
    .map((segment) => finishedSegment(segment, files))
    .join("\n");
  const parts = splitText(shown, ANSWER_PART_LENGTH);
  const views = parts.length > ANSWER_MESSAGES_MAX ? [headView(text, shown)] : parts.map(textView);
  const last = views.at(-1);
  if (last === undefined) return [];
  if (parts.length <= ANSWER_MESSAGES_MAX) last.files.push(...files);
  if (footer !== null) last.text = `${last.text}\n${clip(footer, FOOTER_LENGTH_MAX - 1)}`;
  return views;
}

/** The messages that show an answer while it is being written. */
export function growingViews(text: string): TextView[] {
  if (isBlank(text)) return [];
  const shown = segmentsOf(text.slice(0, STREAMED_LENGTH_MAX))
    .map((segment) => codeOf(segment) ?? tableOf(segment) ?? textOf(segment))
    .join("\n");
  return splitText(shown, ANSWER_PART_LENGTH).slice(0, ANSWER_MESSAGES_MAX).map(textView);
}

function headView(text: string, shown: string): TextView {
  // A heading whose text is cut away announces nothing.
  const head = (splitText(shown, HEAD_LENGTH)[0] ?? "").replace(/(?:\n+#{1,3} [^\n]*)+\s*$/, "");
  return {
    kind: "text",
    text: `${head}\n-# The beginning of a long answer; answer.md has all of it.`,
    files: [{ name: "answer.md", bytes: encoder.encode(text) }],
  };
}

function finishedSegment(segment: Segment, files: ViewFile[]): string {
  const room = files.length < FILES_MAX;
  if (segment.kind === "code") {
    const lines = segment.code.split("\n").length;
    if (lines <= CODE_LINES_MAX || !room) return codeOf(segment) ?? "";
    const name = `code-${files.length + 1}.${extensionOf(segment.language)}`;
    files.push({ name, bytes: encoder.encode(`${segment.code}\n`) });
    return `-# 📎 ${name} (${lines} lines)`;
  }
  if (segment.kind === "table") {
    const table = alignTable(segment.rows, segment.flush_right);
    if (table.width <= TABLE_WIDTH_MAX || !room) return tableOf(segment) ?? "";
    const name = `table-${files.length + 1}.txt`;
    files.push({ name, bytes: encoder.encode(`${table.text}\n`) });
    const rows = segment.rows.length - 1;
    return `-# 📎 ${name} (${rows} ${rows === 1 ? "row" : "rows"})`;
  }
  return segment.text;
}

/** Discord knows fences of three backticks alone; fences inside the code are pried apart so that they do not end it. */
function codeOf(segment: Segment): string | null {
  if (segment.kind !== "code") return null;
  const code = segment.code.replaceAll("```", "`\u200b`\u200b`");
  return `\`\`\`${segment.language}\n${code}\n\`\`\``;
}

function tableOf(segment: Segment): string | null {
  return segment.kind === "table" ? `\`\`\`\n${alignTable(segment.rows, segment.flush_right).text}\n\`\`\`` : null;
}

function textOf(segment: Segment): string {
  return segment.kind === "code" ? "" : segment.text;
}

const EXTENSIONS = new Map<string, string>([
  ["python", "py"],
  ["py", "py"],
  ["javascript", "js"],
  ["js", "js"],
  ["typescript", "ts"],
  ["ts", "ts"],
  ["tsx", "tsx"],
  ["jsx", "jsx"],
  ["bash", "sh"],
  ["sh", "sh"],
  ["shell", "sh"],
  ["zsh", "sh"],
  ["powershell", "ps1"],
  ["json", "json"],
  ["yaml", "yaml"],
  ["yml", "yaml"],
  ["toml", "toml"],
  ["html", "html"],
  ["css", "css"],
  ["scss", "scss"],
  ["sql", "sql"],
  ["rust", "rs"],
  ["rs", "rs"],
  ["go", "go"],
  ["java", "java"],
  ["kotlin", "kt"],
  ["swift", "swift"],
  ["c", "c"],
  ["cpp", "cpp"],
  ["c++", "cpp"],
  ["csharp", "cs"],
  ["cs", "cs"],
  ["ruby", "rb"],
  ["rb", "rb"],
  ["php", "php"],
  ["perl", "pl"],
  ["lua", "lua"],
  ["r", "r"],
  ["scala", "scala"],
  ["haskell", "hs"],
  ["elixir", "ex"],
  ["dockerfile", "dockerfile"],
  ["makefile", "mk"],
  ["xml", "xml"],
  ["svg", "svg"],
  ["csv", "csv"],
  ["diff", "diff"],
  ["patch", "patch"],
  ["markdown", "md"],
  ["md", "md"],
  ["tex", "tex"],
  ["latex", "tex"],
  ["vue", "vue"],
  ["zig", "zig"],
  ["nix", "nix"],
]);

/** The file extension for a code block's language; `txt` for one we do not know. */
export function extensionOf(language: string): string {
  return EXTENSIONS.get(language.toLowerCase()) ?? "txt";
}
