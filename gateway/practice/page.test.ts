import { afterEach, beforeEach, expect, test } from "vitest";
import { isJsonObject } from "../../src/protocol/json.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { startPractice } from "./index.ts";
import type { PracticeDiscord } from "./index.ts";

let practice: PracticeDiscord;

beforeEach(async () => {
  practice = await startPractice();
});

afterEach(() => practice.close());

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${practice.url}${path}`, { headers });
}

async function act(action: string, body: JsonObject): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(`${practice.url}page/api/act`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action, ...body }),
  });
  const answer: unknown = await response.json();
  return { status: response.status, body: isJsonObject(answer) ? answer : {} };
}

test("the page and its parts are served without inline code", async () => {
  const page = await get("");
  const html = await page.text();
  expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=/);
  for (const [, path] of html.matchAll(/(?:src|href)="\/([^"]+)"/g)) expect((await get(path ?? "")).status).toBe(200);
  const script = await (await get("page/app.js")).text();
  for (const [, name] of script.matchAll(/from "\.\/([^"]+)"/g)) expect((await get(`page/${name}`)).status).toBe(200);
});

test("nothing else of the disk is served", async () => {
  for (const path of ["page/..%2Findex.ts", "page/%2e%2e%2fmodel.ts", "page/nothing.js"]) {
    expect((await get(path)).status).toBe(404);
  }
});

test("a page of another origin or name gets nothing (REQ-SAFE-014)", async () => {
  expect((await get("page/api/state", { origin: "https://evil.example" })).status).toBe(403);
  const { port } = new URL(practice.url);
  const own = await get("page/api/state", { origin: `http://127.0.0.1:${port}` });
  expect(own.status).toBe(200);
});

test("a person writes, is refused in words, and sees only what is theirs", async () => {
  const [ada, ben] = [practice.userId("Ada"), practice.userId("Ben")];
  const general = practice.channelId("general");
  expect(
    (await act("say", { as: ada, channel: general, content: "hi", attachments: file("a.txt", "abc") })).status,
  ).toBe(200);
  expect(practice.channelAsText("general")).toBe("#general\nAda: hi\n  (file a.txt, 3 bytes)");
  const foreign = practice.messages("general")[0]?.id ?? "";
  expect(await act("edit", { as: ben, message: foreign, content: "ha" })).toEqual({
    status: 400,
    body: { error: "You can edit your own messages only." },
  });
  practice.admin.setPermissions("random", "@everyone", { deny: ["view_channel"] });
  const state = JSON.stringify(await (await get(`page/api/state?as=${ben}`)).json());
  expect(state).toContain("general");
  expect(state).not.toContain("random");
});

test("a change is told to the page that listens", async () => {
  const response = await get("page/api/events");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  practice.as("Ada").say("general", "news");
  let heard = "";
  while (!heard.includes("changed")) heard += (await reader?.read())?.value ?? "";
  expect(heard).toContain(JSON.stringify({ changed: [practice.channelId("general")] }));
  await reader?.cancel();
});

function file(filename: string, content: string): JsonObject[] {
  return [{ filename, base64: Buffer.from(content).toString("base64") }];
}
