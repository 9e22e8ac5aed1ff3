import type { Command } from "commander";
import { gatewayEnvironment } from "../../config/child_environment.ts";
import { prepareDataDirectory } from "../../config/data_directory.ts";
import { givenFlags, loadOrFail } from "../flags.ts";
import { runAlone } from "../supervisor/run_alone.ts";
import { terminal } from "../terminal.ts";

/** `turnstone gateway`: the Discord gateway alone. */
export function addGatewayCommand(program: Command): void {
  program
    .command("gateway")
    .description("run the Discord gateway alone")
    .action(async () => {
      const config = loadOrFail(givenFlags(program), terminal);
      if (config === null) return;
      if (config.discord.token === null) {
        terminal.fail(
          "The gateway needs a bot token: set TURNSTONE_DISCORD_TOKEN or [discord] token. Without one, turnstone start brings a practice Discord.",
        );
        return;
      }
      // Both sign with the same secret; on a machine without the server's data directory it comes from the settings.
      const prepared = prepareDataDirectory(config);
      if (prepared.ok) await runAlone("gateway", gatewayEnvironment(config, prepared.jwt_secret));
      else terminal.fail(prepared.error);
    });
}
