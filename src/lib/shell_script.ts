/** A word of a command with its quotes taken off. Expansions stay as they are written. */
export interface ShellWord {
  text: string;
  /** Whether the shell will use just this text: no variable, substitution, pattern or brace in it. */
  literal: boolean;
}

export interface ShellRedirection {
  /** Such as `>`, `2>>` or `<<<`, without its target. */
  operator: string;
  target: ShellWord;
}

/** One program call, with all that is written around it. */
export interface ShellCommand {
  /** The program's name first. Empty where a line only assigns or redirects. */
  words: ShellWord[];
  /** Such as `NAME=value` before the name. */
  assignments: ShellWord[];
  redirections: ShellRedirection[];
  /** Whether its input comes from the command before it. */
  piped: boolean;
  /** Whether it is started with `&`. */
  background: boolean;
  /** The function that it stands in. */
  in_function: string | null;
}

export interface ShellScript {
  /** Every call in the order of writing, also those in subshells, substitutions, loops and functions. */
  commands: ShellCommand[];
  /** What could not be understood for sure. Empty: the commands are all that will run. */
  doubts: string[];
}
