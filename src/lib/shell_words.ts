import { ShellReader } from "./shell_reader.ts";
import type { ShellScript } from "./shell_script.ts";

/**
 * Splits a bash script into its commands without running it. It knows quotes, lists, pipes, groups, redirections, here
 * documents and substitutions. Where it cannot be sure what bash would do, it goes on as well as it can and says so.
 */
export function parseShell(script: string): ShellScript {
  const reader = new ShellReader(script, 0);
  reader.readList(null);
  return { commands: reader.commands, doubts: [...reader.doubts] };
}
