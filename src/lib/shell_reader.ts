import type { ShellCommand, ShellWord } from "./shell_script.ts";

/** Words that only frame commands: what follows them is a command again. */
const FRAMES: ReadonlySet<string> = new Set([
  "if",
  "then",
  "elif",
  "else",
  "fi",
  "while",
  "until",
  "do",
  "done",
  "!",
  "{",
  "}",
  "time",
  "esac",
  "coproc",
]);
/** Substitutions within substitutions beyond this are not followed. */
const DEPTH_MAX = 20;
const OPERATOR = /^(?:&&|\|\||;;&|;;|;&|\|&|[;&|\n])/;
const REDIRECTION = /^(?:\d{0,9}|\{[A-Za-z_]\w*\})(?:<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|^&>>?/;
const NAME_END = /[\s;&|<>()]/;

/** Reads commands from a script as bash would, from a place in it up to a closing bracket or its end. */
export class ShellReader {
  readonly commands: ShellCommand[] = [];
  readonly doubts = new Set<string>();
  readonly #text: string;
  readonly #depth: number;
  #at = 0;
  #here_documents: { delimiter: string; literal: boolean; indented: boolean }[] = [];
  #function: string | null = null;

  constructor(text: string, depth: number, from = 0) {
    this.#text = text;
    this.#depth = depth;
    this.#at = from;
    if (depth > DEPTH_MAX) this.doubts.add("substitutions are nested too deeply");
  }

  /** Where reading stopped. */
  get position(): number {
    return this.#at;
  }

  /** Reads commands up to the closing bracket, or to the end. */
  readList(closing: ")" | null): void {
    if (this.#depth > DEPTH_MAX) this.#at = this.#text.length;
    let piped = false;
    while (this.#at < this.#text.length) {
      this.#skipBlanks();
      const operator = OPERATOR.exec(this.#rest(3))?.[0];
      if (operator !== undefined) {
        this.#at += operator.length;
        piped = operator === "|" || operator === "|&";
        if (operator === "\n") this.#skipHereDocuments();
        continue;
      }
      const next = this.#text[this.#at];
      if (next === undefined) break;
      if (next === ")") {
        this.#at += 1;
        if (closing === ")") return;
        this.doubts.add("a bracket closes nothing");
      } else if (next === "(") this.#readBracket();
      else {
        this.#readCommand(piped);
        piped = false;
      }
    }
    if (closing !== null) this.doubts.add("a bracket is not closed");
    if (this.#here_documents.length > 0) this.doubts.add("a here document is not ended");
  }

  #readBracket(): void {
    if (this.#rest(2) === "((") {
      this.doubts.add("arithmetic is not followed");
      const end = this.#text.indexOf("))", this.#at);
      this.#at = end < 0 ? this.#text.length : end + 2;
      return;
    }
    this.#at += 1;
    this.#nested(")", this.#function);
  }

  #readCommand(piped: boolean): void {
    const command: ShellCommand = {
      words: [],
      assignments: [],
      redirections: [],
      piped,
      background: false,
      in_function: this.#function,
    };
    for (;;) {
      this.#skipBlanks();
      const rest = this.#rest(32);
      const redirection = REDIRECTION.exec(rest)?.[0];
      if (redirection !== undefined && !/^[<>]\(/.test(rest)) this.#readRedirection(command, redirection);
      else if (rest === "" || OPERATOR.test(rest) || rest.startsWith(")")) break;
      else if (rest.startsWith("(")) {
        if (!this.#readFunction(command)) break;
        return;
      } else if (this.#readCommandWord(command)) break;
    }
    const ending = this.#rest(2);
    command.background = ending.startsWith("&") && ending !== "&&";
    if (command.words.length + command.assignments.length + command.redirections.length > 0) {
      this.commands.push(command);
    }
  }

  /** Whether the command is over with this word, since it frames others. */
  #readCommandWord(command: ShellCommand): boolean {
    const start = this.#at;
    const word = this.#readWord();
    const source = this.#text.slice(start, this.#at);
    if (command.words.length > 0) command.words.push(word);
    else if (/^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(source)) this.#readAssignment(command, word);
    else if (FRAMES.has(source)) return source === "}" && this.#leaveFunction();
    else if (source === "for" || source === "select" || source === "case" || source === "function") {
      return this.#readHead(source);
    } else if (source === "[[") this.#skipTest();
    else command.words.push(word);
    return false;
  }

  #leaveFunction(): boolean {
    this.#function = null;
    return true;
  }

  #readAssignment(command: ShellCommand, word: ShellWord): void {
    command.assignments.push(word);
    if (this.#text[this.#at] === "(" && word.text.endsWith("=")) {
      this.doubts.add("an array is not followed");
      this.#at += 1;
      this.#nested(")", this.#function, "discard");
    }
  }

  /** What stands between `for`, `case` or `function` and the first command. */
  #readHead(keyword: string): true {
    if (keyword === "case") this.doubts.add("the patterns of a case are not followed");
    const end = keyword === "case" ? /\bin\b/ : /[;\n{]|\bdo\b/;
    const header = end.exec(this.#text.slice(this.#at));
    const text = this.#text.slice(this.#at, header === null ? undefined : this.#at + header.index);
    if (keyword === "function") this.#function = text.replace(/\(.*/, "").trim();
    else if (/[$`]\(|`/.test(text)) {
      // A substitution in the head runs, too.
      const inner = new ShellReader(text, this.#depth + 1);
      while (inner.position < text.length) inner.#readWordOrSkip();
      this.#adopt(inner, "keep");
    }
    this.#at += text.length + (keyword === "case" ? 2 : 0);
    return true;
  }

  #readWordOrSkip(): void {
    this.#skipBlanks();
    const before = this.#at;
    this.#readWord();
    if (this.#at === before) this.#at += 1;
  }

  #readFunction(command: ShellCommand): boolean {
    const brackets = /^\(\s*\)\s*/.exec(this.#text.slice(this.#at, this.#at + 64))?.[0];
    if (brackets === undefined || command.words.length !== 1) {
      this.doubts.add("a bracket stands where a word should");
      this.#at += 1;
      this.#nested(")", this.#function);
      return false;
    }
    this.#at += brackets.length;
    const name = command.words[0]?.text ?? "";
    if (this.#text[this.#at] === "(") {
      this.#at += 1;
      this.#nested(")", name);
    } else this.#function = name;
    return true;
  }

  #skipTest(): void {
    const end = this.#text.indexOf("]]", this.#at);
    const inside = this.#text.slice(this.#at, end < 0 ? undefined : end);
    if (/[`$]\(|`/.test(inside)) this.doubts.add("a substitution in a test is not followed");
    this.#at += inside.length + (end < 0 ? 0 : 2);
  }

  #readRedirection(command: ShellCommand, operator: string): void {
    this.#at += operator.length;
    this.#skipBlanks();
    const start = this.#at;
    const target = this.#readWord();
    if (operator.endsWith("<<") || operator.endsWith("<<-")) {
      const literal = /['"\\]/.test(this.#text.slice(start, this.#at));
      this.#here_documents.push({ delimiter: target.text, literal, indented: operator.endsWith("-") });
      return;
    }
    command.redirections.push({ operator, target });
  }

  #readWord(): ShellWord {
    let text = "";
    let literal = true;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? "";
      const two = this.#rest(2);
      if (two === "<(" || two === ">(") {
        literal = false;
        text += this.#readSubstitution(2);
      } else if (NAME_END.test(character)) break;
      else if (character === "'") text += this.#readQuoted();
      else if (two === "$'") {
        literal = false;
        this.#at += 1;
        text += this.#readEscapedQuote();
      } else if (character === '"' || two === '$"') {
        this.#at += character === '"' ? 1 : 2;
        const inside = this.#readDoubleQuoted();
        literal &&= inside.literal;
        text += inside.text;
      } else if (character === "\\") {
        this.#at += 2;
        text += two === "\\\n" ? "" : two.slice(1);
      } else if (character === "$" || character === "`") {
        const expansion = this.#readExpansion();
        literal &&= expansion === "$";
        text += expansion;
      } else {
        if ("*?[{~".includes(character) && !(character === "~" && text !== "")) literal = false;
        text += character;
        this.#at += 1;
      }
    }
    return { text, literal };
  }

  #readQuoted(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) this.doubts.add("a quotation is not closed");
    const inside = this.#text.slice(this.#at + 1, end < 0 ? undefined : end);
    this.#at += inside.length + 2;
    return inside;
  }

  #readEscapedQuote(): string {
    const quoted = /^'((?:[^'\\]|\\[^])*)'?/.exec(this.#text.slice(this.#at));
    this.#at += quoted?.[0].length ?? 1;
    return quoted?.[1] ?? "";
  }

  #readDoubleQuoted(): ShellWord {
    let text = "";
    let literal = true;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? "";
      if (character === '"') {
        this.#at += 1;
        return { text, literal };
      }
      if (character === "\\") {
        const escaped = this.#text[this.#at + 1] ?? "";
        if (escaped !== "\n") text += '$`"\\'.includes(escaped) ? escaped : `\\${escaped}`;
        this.#at += 2;
      } else if (character === "$" || character === "`") {
        const expansion = this.#readExpansion();
        literal &&= expansion === "$";
        text += expansion;
      } else {
        text += character;
        this.#at += 1;
      }
    }
    this.doubts.add("a quotation is not closed");
    return { text, literal };
  }

  /** A variable or a substitution, as it is written. Its commands are read along. */
  #readExpansion(): string {
    const start = this.#at;
    if (this.#text[start] === "`") return this.#readBackticks();
    if (this.#rest(3) === "$((") {
      const end = this.#text.indexOf("))", start);
      if (/`|\$\([^(]/.test(this.#text.slice(start + 1, end))) {
        this.doubts.add("a substitution in arithmetic is not followed");
      }
      this.#at = end < 0 ? this.#text.length : end + 2;
    } else if (this.#rest(2) === "$(") return this.#readSubstitution(2);
    else if (this.#rest(2) === "${") this.#skipParameter();
    else this.#at += /^\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])?/.exec(this.#text.slice(start, start + 256))?.[0].length ?? 1;
    return this.#text.slice(start, this.#at);
  }

  #readSubstitution(opening: number): string {
    const start = this.#at;
    this.#at += opening;
    this.#nested(")", this.#function);
    return this.#text.slice(start, this.#at);
  }

  #readBackticks(): string {
    const quoted = /^`((?:[^`\\]|\\[^])*)`?/.exec(this.#text.slice(this.#at));
    const inner = new ShellReader((quoted?.[1] ?? "").replace(/\\([`$\\])/g, "$1"), this.#depth + 1);
    inner.readList(null);
    this.#adopt(inner, "keep");
    this.#at += quoted?.[0].length ?? 1;
    return quoted?.[0] ?? "`";
  }

  #skipParameter(): void {
    let depth = 0;
    const start = this.#at;
    for (; this.#at < this.#text.length; this.#at += 1) {
      if (this.#rest(2) === "${") depth += 1;
      if (this.#text[this.#at] === "}" && --depth === 0) break;
    }
    this.#at += 1;
    if (/`|\$\(/.test(this.#text.slice(start, this.#at))) {
      this.doubts.add("a substitution in a parameter is not followed");
    }
  }

  #nested(closing: ")", in_function: string | null, what: "keep" | "discard" = "keep"): void {
    const inner = new ShellReader(this.#text, this.#depth + 1, this.#at);
    inner.#function = in_function;
    inner.readList(closing);
    this.#adopt(inner, what);
    this.#at = inner.position;
  }

  #adopt(inner: ShellReader, what: "keep" | "discard"): void {
    if (what === "keep") this.commands.push(...inner.commands);
    for (const doubt of inner.doubts) this.doubts.add(doubt);
  }

  #skipHereDocuments(): void {
    for (const { delimiter, literal, indented } of this.#here_documents) {
      let ended = false;
      while (!ended && this.#at < this.#text.length) {
        const end = this.#text.indexOf("\n", this.#at);
        const line = this.#text.slice(this.#at, end < 0 ? undefined : end);
        this.#at += line.length + 1;
        ended = (indented ? line.replace(/^\t+/, "") : line) === delimiter;
        if (!ended && !literal && /`|\$\(/.test(line)) {
          this.doubts.add("a substitution in a here document is not followed");
        }
      }
      if (!ended) this.doubts.add("a here document is not ended");
    }
    this.#here_documents = [];
  }

  #skipBlanks(): void {
    const blank = /^(?:[ \t\r]|\\\n)*(?:#[^\n]*)?/;
    for (let found = 1; found > 0; this.#at += found) {
      const before = this.#text[this.#at - 1];
      const rest = this.#text.slice(this.#at, this.#at + 4096);
      // A `#` begins a comment only where a word could begin.
      const open = before === undefined || /[\s;&|()]/.test(before);
      found = (open ? blank : /^(?:[ \t\r]|\\\n)*/).exec(rest)?.[0].length ?? 0;
    }
  }

  #rest(length: number): string {
    return this.#text.slice(this.#at, this.#at + length);
  }
}
