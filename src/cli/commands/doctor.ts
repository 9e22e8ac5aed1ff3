import type { Command } from "commander";
import { givenFlags } from "../flags.ts";
import { terminal } from "../terminal.ts";

/** `turnstone doctor`: looks at each part and says how to mend what is wrong. */
export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("check every part and say how to mend what is wrong")
    .option("--json", "print one JSON object")
    .action(async (options: { json?: boolean }) => {
      const { runDoctor } = await import("../doctor/run.ts");
      await runDoctor(givenFlags(program), options.json === true, terminal);
    });
}
