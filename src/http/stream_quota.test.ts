import { request } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { createStreamQuota, STREAMS_MAX } from "./stream_quota.ts";
import { bearer, createRig } from "./testing/rig.ts";

test("a credential has only so many streams, and gets a place back when one ends", () => {
  const quota = createStreamQuota(2);
  const closings: (() => void)[] = [];
  const open = (credential_id: string): void => {
    const onClose = (callback: () => void): void => void closings.push(callback);
    const connection = { closed: false, write: () => {}, ready: () => Promise.resolve(), onClose, close: () => {} };
    quota.count(credential_id, connection);
  };
  open("a");
  expect(quota.allows("a")).toBe(true);
  open("a");
  expect([quota.allows("a"), quota.allows("b")]).toEqual([false, true]);
  closings[0]?.();
  expect(quota.allows("a")).toBe(true);
});

test("who opens streams without end is refused, and others are not (SSE-05)", async () => {
  const rig = await createRig();
  const { port } = new URL(await rig.listen());
  const greedy = await rig.person("greedy");
  const other = await rig.person("other");
  const sockets = await Promise.all(
    Array.from({ length: STREAMS_MAX }, () => {
      const asked = request({ port, path: "/v1/api/events/global", headers: bearer(greedy.token), agent: false });
      asked.on("error", () => {}).end();
      return new Promise<typeof asked>((resolve) =>
        asked.on("response", (answer) => (answer.resume(), resolve(asked))),
      );
    }),
  );
  const refused = await fetch(`${rig.app.listeningOrigin}/v1/api/events/global`, { headers: bearer(greedy.token) });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "30"]);
  const controller = new AbortController();
  const headers = bearer(other.token);
  const let_in = await fetch(`${rig.app.listeningOrigin}/v1/api/events/global`, { headers, signal: controller.signal });
  expect(let_in.status).toBe(200);
  controller.abort();
  for (const socket of sockets) socket.destroy();
}, 60_000);

test("a client that never finishes its head is cut", async () => {
  const rig = await createRig();
  // As a slow client sees it, only sooner.
  rig.app.server.headersTimeout = 200;
  const { port } = new URL(await rig.listen());
  const started = performance.now();
  const answer = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(Number(port), "127.0.0.1", () =>
      socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\nX: "),
    );
    socket.on("data", (bytes) => (text += bytes.toString())).on("error", () => resolve(text));
    socket.on("close", () => resolve(text));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(performance.now() - started).toBeLessThan(15_000);
}, 30_000);

test("the limits that the page on security names are those of the server", async () => {
  const { app } = await createRig();
  const { headersTimeout, requestTimeout, timeout, maxConnections } = app.server;
  expect({ headersTimeout, requestTimeout, timeout, maxConnections }).toEqual({
    headersTimeout: 15_000,
    requestTimeout: 120_000,
    timeout: 330_000,
    maxConnections: 4096,
  });
  expect(STREAMS_MAX).toBe(1000);
});
