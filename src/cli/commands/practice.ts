import type { Command } from "commander";
import { practiceEnvironment } from "../../config/child_environment.ts";
import { givenFlags, loadOrFail } from "../flags.ts";
import { runAlone } from "../supervisor/run_alone.ts";
import { terminal } from "../terminal.ts";

/** `turnstone practice`: the practice Discord alone. */
export function addPracticeCommand(program: Command): void {
  program
    .command("practice")
    .description("run the practice Discord alone")
    .action(async () => {
      const config = loadOrFail(givenFlags(program), terminal);
      if (config !== null) await runAlone("practice", practiceEnvironment(config));
    });
}
