import { expect, test } from "vitest";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { AT, temporaryFolder, temporaryStore, userTurn, workstream } from "../../test/support/store_rig.ts";

const LOOP = `
const { openStore } = await import(process.argv[1]);
const store = await openStore({ path: process.argv[2] });
let seq = (await store.workstreams.get("a")).last_seq;
for (;;) {
  seq += 1;
  const entry = { ws_id: "a", seq, at: "${AT}", event: { type: "user_turn", content: "entry " + seq, client_send_ids: [] } };
  const info = { ...entry, seq: seq + 1, event: { type: "info", message: "x".repeat(seq % 5000) } };
  await store.journal.commit({ ws_id: "a", at: "${AT}", entries: [entry, info], context_tokens: seq + 1 });
  seq += 1;
  process.stdout.write(seq + "\\n");
}`;

// REQ-CRASH-008
test("a process that is killed loses nothing it acknowledged and leaves nothing half done (STOR-09)", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  const store = await temporaryStore(path);
  await store.workstreams.create(workstream("a"));
  await store.close();
  for (const acknowledgements of [1, 20, 150]) {
    const child = spawn(
      process.execPath,
      ["--input-type=module", "-e", LOOP, join(import.meta.dirname, "index.ts"), path],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let acknowledged = 0;
    let count = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged = Number(line);
      count += 1;
      if (count === acknowledgements) child.kill("SIGKILL");
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    expect(count).toBeGreaterThanOrEqual(acknowledgements);
    const again = await temporaryStore(path);
    const row = await again.workstreams.get("a");
    const entries = await again.journal.read("a", 0);
    expect(entries.length).toBeGreaterThanOrEqual(acknowledged);
    expect(entries.length % 2).toBe(0);
    expect(row).toMatchObject({ last_seq: entries.length, context_tokens: entries.length });
    await again.journal.commit({
      ws_id: "a",
      at: AT,
      context_tokens: entries.length + 2,
      entries: [userTurn("a", entries.length + 1, "on"), userTurn("a", entries.length + 2, "and on")],
    });
    const found = await again.search.conversations({
      user_id: "anna",
      except_ws_id: null,
      query: `"entry ${acknowledged - 1}"`,
      limit: 5,
    });
    expect(found.hits.some((hit) => hit.seq === acknowledged - 1)).toBe(true);
    await again.close();
  }
});
