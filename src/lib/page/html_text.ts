import { Parser } from "htmlparser2";
import { TextWriter } from "./text_writer.ts";

export interface HtmlText {
  title: string;
  /** What the page says it is about, in its own words. */
  description: string;
  /** Blocks are kept apart by blank lines. */
  text: string;
}

/** Whole elements that nobody reads as text: programs, styles, drawings, controls, and the ways around a site. */
const DROPPED: ReadonlySet<string> = new Set([
  "audio",
  "button",
  "canvas",
  "datalist",
  "embed",
  "iframe",
  "input",
  "nav",
  "noframes",
  "noscript",
  "object",
  "script",
  "select",
  "style",
  "svg",
  "template",
  "textarea",
  "video",
]);

/** ARIA roles of the same kind. */
const DROPPED_ROLES: ReadonlySet<string> = new Set(["navigation", "search", "menu", "menubar", "toolbar"]);

/** Elements that begin and end a line of their own, with a blank line around. */
const BLOCKS: ReadonlySet<string> = new Set([
  "address",
  "article",
  "aside",
  "blockquote",
  "body",
  "details",
  "dialog",
  "dl",
  "fieldset",
  "figure",
  "footer",
  "form",
  "header",
  "hgroup",
  "main",
  "ol",
  "p",
  "section",
  "summary",
  "table",
  "ul",
]);

/** Elements that begin and end a line of their own. */
const LINES: ReadonlySet<string> = new Set(["caption", "center", "div", "dd", "dt", "figcaption", "legend", "option"]);

const HEADING = /^h[1-6]$/;

/** Longer targets are data or trackers, and cost more than they tell. */
const TARGET_CHARACTERS_MAX = 300;

/**
 * The readable text of a page, in the manner of Markdown: headings, lists, tables, code, and links with their whole
 * targets. Linear in the page's length but for the depth of its elements; it is run in a thread with a time limit.
 */
export function htmlToText(html: string, page_url: string): HtmlText {
  const reader = new HtmlReader(page_url);
  const parser = new Parser({
    onopentag: (name, attributes) => reader.open(name, attributes),
    onclosetag: (name) => reader.close(name),
    ontext: (data) => reader.text(data),
  });
  parser.end(html);
  return reader.result();
}

type Attributes = Readonly<Record<string, string>>;

/** What the start of an element writes, after the border of its block. */
const OPENERS: ReadonlyMap<string, (writer: TextWriter, attributes: Attributes) => void> = new Map([
  ["blockquote", (writer: TextWriter) => writer.openQuote()],
  ["br", (writer: TextWriter) => writer.lineBreak()],
  ["code", (writer: TextWriter, attributes: Attributes) => writer.openCode(languageOf(attributes))],
  ["dd", (writer: TextWriter) => writer.write(": ")],
  ["hr", (writer: TextWriter) => writer.rule()],
  ["img", (writer: TextWriter, attributes: Attributes) => writer.picture(oneLine(attributes["alt"] ?? ""))],
  ["li", (writer: TextWriter) => writer.openItem()],
  ["ol", (writer: TextWriter, { start }: Attributes) => writer.openList(Number.parseInt(start ?? "1", 10) || 1)],
  ["pre", (writer: TextWriter, attributes: Attributes) => writer.openFence(languageOf(attributes))],
  ["table", (writer: TextWriter) => writer.openTable()],
  ["td", (writer: TextWriter) => writer.openCell(false)],
  ["th", (writer: TextWriter) => writer.openCell(true)],
  ["tr", (writer: TextWriter) => writer.openRow()],
  ["ul", (writer: TextWriter) => writer.openList(null)],
]);

/** What the end of an element writes before the border of its block. */
const ENDERS: ReadonlyMap<string, (writer: TextWriter) => void> = new Map([
  ["a", (writer: TextWriter) => writer.closeLink()],
  ["code", (writer: TextWriter) => writer.closeCode()],
  ["li", (writer: TextWriter) => writer.endLine()],
  ["pre", (writer: TextWriter) => writer.closeFence()],
  ["td", (writer: TextWriter) => writer.closeCell()],
  ["th", (writer: TextWriter) => writer.closeCell()],
  ["tr", (writer: TextWriter) => writer.closeRow()],
]);

/** What it leaves behind after it. */
const CLOSERS: ReadonlyMap<string, (writer: TextWriter) => void> = new Map([
  ["blockquote", (writer: TextWriter) => writer.closeQuote()],
  ["ol", (writer: TextWriter) => writer.closeList()],
  ["table", (writer: TextWriter) => writer.closeTable()],
  ["ul", (writer: TextWriter) => writer.closeList()],
]);

class HtmlReader {
  readonly #writer = new TextWriter();
  #base: string;
  readonly #page_url: string;
  /** How deep in an element that is left out; 0 outside. */
  #dropped = 0;
  #in_title = false;
  #title: string[] = [];
  #description = "";

  constructor(page_url: string) {
    this.#base = page_url;
    this.#page_url = page_url;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#dropped > 0 || isDropped(name, attributes)) {
      this.#dropped += 1;
      return;
    }
    const writer = this.#writer;
    if (BLOCKS.has(name)) writer.endBlock();
    else if (LINES.has(name)) writer.endLine();
    if (name === "title") this.#in_title = true;
    else if (name === "base") this.#base = URL.parse(attributes["href"] ?? "", this.#base)?.href ?? this.#base;
    else if (name === "meta" && attributes["name"]?.toLowerCase() === "description") {
      this.#description = oneLine(attributes["content"] ?? "");
    } else if (name === "a") writer.openLink(this.#target(attributes["href"]));
    else if (HEADING.test(name)) writer.openHeading(Number(name.slice(1)));
    else OPENERS.get(name)?.(writer, attributes);
  }

  close(name: string): void {
    if (this.#dropped > 0) {
      this.#dropped -= 1;
      return;
    }
    const writer = this.#writer;
    if (name === "title") this.#in_title = false;
    else if (HEADING.test(name)) writer.endBlock();
    else ENDERS.get(name)?.(writer);
    if (BLOCKS.has(name)) writer.endBlock();
    else if (LINES.has(name)) writer.endLine();
    CLOSERS.get(name)?.(writer);
  }

  text(data: string): void {
    if (this.#dropped > 0) return;
    if (this.#in_title) this.#title.push(data);
    else this.#writer.write(data);
  }

  result(): HtmlText {
    return { title: oneLine(this.#title.join("")), description: this.#description, text: this.#writer.finish() };
  }

  /** The whole target of a link that leads to another page; null for all others. */
  #target(href: string | undefined): string | null {
    if (href === undefined || href.startsWith("#") || href.length > TARGET_CHARACTERS_MAX) return null;
    const url = URL.parse(href, this.#base);
    if (url === null || !/^(?:https?|mailto):$/.test(url.protocol)) return null;
    return url.href === this.#page_url || url.href.length > TARGET_CHARACTERS_MAX ? null : url.href;
  }
}

function isDropped(name: string, attributes: Attributes): boolean {
  // Pages hide themselves until their scripts have run.
  if (name === "html" || name === "body") return false;
  if (DROPPED.has(name) || "hidden" in attributes || attributes["aria-hidden"] === "true") return true;
  if (DROPPED_ROLES.has(attributes["role"] ?? "")) return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test((attributes["style"] ?? "").slice(0, 500));
}

function languageOf(attributes: Attributes): string {
  return /(?:^|\s)(?:language|lang)-([\w+#.-]{1,30})/.exec((attributes["class"] ?? "").slice(0, 500))?.[1] ?? "";
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 500);
}
