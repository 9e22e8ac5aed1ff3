import { runCommandLine } from "./cli/program.ts";
import { outliveReaders } from "./lib/output.ts";

outliveReaders();
await runCommandLine(process.argv.slice(2));
