import type { Command } from "commander";
import { armCrashPointsFromEnvironment } from "../../config/crash_points.ts";
import { givenFlags, loadOrFail } from "../flags.ts";
import { abortOnStopSignal } from "../supervisor/stop_signals.ts";
import { terminal } from "../terminal.ts";

/** `turnstone server`: the agent engine and its HTTP API, in this process. */
export function addServerCommand(program: Command): void {
  program
    .command("server")
    .description("run the server alone")
    .action(async () => {
      armCrashPointsFromEnvironment();
      const config = loadOrFail(givenFlags(program), terminal);
      if (config === null) return;
      const { runServer } = await import("../run_server.ts");
      process.exitCode = await runServer(config, terminal, abortOnStopSignal());
    });
}
