/** What a command writes to and how it ends. */
export interface Terminal {
  /** A line for the person or program that called. */
  print(line: string): void;
  /** A line about what went wrong or goes on. */
  warn(line: string): void;
  /** Says what went wrong in one sentence; the process will end with 1. */
  fail(sentence: string): void;
}

export const terminal: Terminal = {
  print: (line) => void process.stdout.write(`${line}\n`),
  warn: (line) => void process.stderr.write(`${line}\n`),
  fail(sentence) {
    process.stderr.write(`${sentence}\n`);
    process.exitCode = 1;
  },
};
