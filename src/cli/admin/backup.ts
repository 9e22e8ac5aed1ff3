import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { record } from "./audit.ts";
import type { AdminCommand } from "./command.ts";
import { textOf } from "./command.ts";

export const backup: AdminCommand = {
  usage: "backup <file>",
  about: "copy the whole store into a new file; the server may run",
  async run({ store, clock }, options) {
    const file = resolve(textOf(options, "file") ?? "");
    if (existsSync(file)) return { ok: false, error: `${file} exists already; a backup never overwrites anything.` };
    if (!existsSync(dirname(file))) return { ok: false, error: `There is no folder ${dirname(file)}; make it first.` };
    await store.backup(file);
    await record({ store, clock }, "store.backed_up", file);
    const bytes = statSync(file).size;
    return { ok: true, data: { file, bytes }, lines: [`Wrote ${file} (${bytes} bytes).`] };
  },
};
