import { outliveReaders } from "../../src/lib/output.ts";
import { DEFAULT_SEED, startPractice } from "./index.ts";

const PORT_DEFAULT = 8092;

/** The program: a practice Discord on this machine until it is told to end. Tells who started it who lives there. */
async function main(): Promise<void> {
  outliveReaders();
  const given = process.env["TURNSTONE_PRACTICE_PORT"];
  const port = given === undefined || given === "" ? PORT_DEFAULT : Number(given);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return fail(`TURNSTONE_PRACTICE_PORT is "${given}"; it must be a whole number from 0 to 65535.`);
  }
  const practice = await startPractice({ port });
  const leave = (): void => void practice.close().finally(() => process.exit(0));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, leave);
  // Who was started by the launcher leaves it to the launcher to say where everything is.
  if (process.send === undefined) process.stdout.write(`Practice Discord: ${practice.url}\n`);
  const people = DEFAULT_SEED.people.map(({ name }) => ({ id: practice.userId(name), username: name.toLowerCase() }));
  const roles = DEFAULT_SEED.roles.map(({ name }) => ({ id: practice.roleId(name), name }));
  process.send?.({ type: "ready", bot_token: practice.bot_token, guild_id: practice.guild_id, people, roles });
}

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  const why =
    error instanceof Error && "code" in error && error.code === "EADDRINUSE"
      ? "another program uses its port"
      : String(error);
  fail(`The practice Discord could not start: ${why}. Choose another port with TURNSTONE_PRACTICE_PORT.`);
});
