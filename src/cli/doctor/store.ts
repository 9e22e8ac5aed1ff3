import { statfs } from "node:fs/promises";
import { openConfiguredStore, storeFile } from "../store_access.ts";
import { StoreError } from "../../store/index.ts";
import type { Check, Finding } from "./check.ts";
import { failed, ok, warning } from "./check.ts";

// A busy week of conversations with pictures; below it a full disk comes as a surprise.
const FREE_BYTES_MIN = 500 * 1024 * 1024;

/** Whether what is kept can be kept. */
export const storeCheck: Check = {
  name: "store",
  async run({ config }) {
    const space = await statfs(config.server.data_dir);
    const free = space.bavail * space.bsize;
    const room =
      free < FREE_BYTES_MIN
        ? warning(
            "disk",
            `Only ${Math.floor(free / 1024 ** 2)} MiB are free in ${config.server.data_dir}.`,
            "Make room.",
          )
        : ok("disk", `${Math.floor(free / 1024 ** 2)} MiB are free in ${config.server.data_dir}.`);
    return [await writable(() => openConfiguredStore(config), storeFile(config)), room];
  },
};

async function writable(open: () => ReturnType<typeof openConfiguredStore>, file: string): Promise<Finding> {
  try {
    const store = await open();
    try {
      const users = await store.users.count();
      if (!(await store.check())) {
        return failed("store", `${file} cannot be written to.`, "Look at its owner and at the disk.");
      }
      if (users > 0) return ok("store", `${file} can be written to; accounts: ${users}.`);
      return warning(
        "store",
        `${file} holds no account yet.`,
        "Run turnstone admin create-user --username NAME --token.",
      );
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return failed(
      "store",
      error.message,
      "Restore a backup with turnstone admin restore FILE, or choose another --data-dir.",
    );
  }
}
