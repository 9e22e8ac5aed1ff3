import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bearer, createRig } from "../testing/rig.ts";

test("a file of the workstream's folder is handed out whole, and nothing else is", async () => {
  const rig = await createRig();
  const owner = await rig.person("owner");
  const stranger = await rig.person("stranger");
  const ws_id = await rig.workstream(owner);
  const bytes = Buffer.from([0, 255, 13, 10, 128]);
  mkdirSync(join(rig.workspace, "out"));
  writeFileSync(join(rig.workspace, "out/résumé.bin"), bytes);
  writeFileSync(join(rig.workspace, "leak.txt"), "here is the server's own secret");
  symlinkSync("/etc/passwd", join(rig.workspace, "link"));
  linkSync(join(rig.workspace, "out/résumé.bin"), join(rig.workspace, "hard"));
  const get = async (path: string, token = owner.token) => {
    const url = `/v1/api/workstreams/${ws_id}/files?path=${encodeURIComponent(path)}`;
    return rig.app.inject({ url, headers: bearer(token) });
  };
  const found = await get("out/résumé.bin");
  expect(found.statusCode).toBe(200);
  expect(found.rawPayload).toEqual(bytes);
  expect(found.headers["content-disposition"]).toContain("r%C3%A9sum%C3%A9.bin");
  expect((await get("hard")).rawPayload).toEqual(bytes);
  const refused = await Promise.all(
    ["../turnstone.db", "/etc/passwd", "link", "out", "leak.txt", "", "a\0b"].map(async (path) => {
      const answer = await get(path);
      return [answer.statusCode, typeof answer.json<{ error: string }>().error];
    }),
  );
  expect(refused).toEqual(refused.map(() => [400, "string"]));
  expect((await get("nothing.txt")).statusCode).toBe(404);
  expect((await get("out/résumé.bin", stranger.token)).statusCode).toBe(404);
});
