import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mintJwt } from "../../src/auth/jwt.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { AUDIENCE_SERVER } from "../../src/protocol/auth.ts";
import { PATHS } from "../../src/protocol/paths.ts";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";
import { createRandom } from "./fuzz/random.ts";
import { type FuzzRequest, operationsIn, type Pool, requestFor } from "./fuzz/requests.ts";
import { createSender, type FuzzAnswer, sendBytes } from "./fuzz/send.ts";

/** How long the border is shaken; a run before a release takes a minute or an hour. */
const SECONDS = Number(process.env["FUZZ_SECONDS"] ?? 20);
/** Another one finds other things; a failure names the one that it came from. */
const SEED = Number(process.env["FUZZ_SEED"] ?? 20_260_101);
const WORKERS = 8;

const JWT_SECRET = "fuzz-secret-0123456789-0123456789-0123";
const MODEL_KEY = "fuzz-model-key-7c1d";

/** What no answer and no log line may hold: secrets, stacks, paths of the source, the database's own words. */
const TELLTALES = [
  /fuzz-secret/,
  /fuzz-model-key/,
  /\bat \S+ \(/,
  /node_modules/,
  /\.ts:\d+/,
  /SQLITE_|no such (?:table|column)|syntax error near/,
];

/** Mebibytes by which the server may have grown. A cache that fills once is within it, a leak of a minute is not. */
const GROWTH_MIB_MAX = 256;

let product: Product;

beforeAll(async () => {
  const env = { TURNSTONE_JWT_SECRET: JWT_SECRET, TURNSTONE_API_KEY: MODEL_KEY, TURNSTONE_RATELIMIT: "off" };
  product = await startProduct({ server_only: true, env });
  product.model.script(() => reply.text("Well."));
});

afterAll(() => product.close());

/** The resident memory of the processes that work on the data directory, in mebibytes. */
function memoryMib(): number {
  const mark = `TURNSTONE_DATA_DIR=${product.data_dir}`;
  const sizes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)) return 0;
        return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0);
      } catch {
        return 0;
      }
    });
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

async function poolOf(running: Product): Promise<Pool> {
  const service = await mintJwt(new TextEncoder().encode(JWT_SECRET), systemClock, {
    sub: "fuzz",
    scopes: "service",
    audience: AUDIENCE_SERVER,
    lifetime_s: 3600,
  });
  const made = await Promise.all(Array.from({ length: 4 }, () => running.api("POST", "/v1/api/workstreams/new", {})));
  const own = `Bearer ${running.token}`;
  return {
    credentials: [
      own,
      own,
      own,
      `Bearer ${service}`,
      null,
      "Bearer x",
      "Basic eDp5",
      `Bearer ${"x".repeat(3000)}`,
      "Bearer",
    ],
    known: { ws_id: made.map(({ body }) => String(body["ws_id"])), channel_type: ["discord"] },
  };
}

/** What is wrong with an answer; null when nothing is. */
function complaint(fuzz: FuzzRequest, answer: FuzzAnswer): string | null {
  const where = `${fuzz.method} ${fuzz.path.slice(0, 200)} ${JSON.stringify(fuzz.headers)} ${String(fuzz.body).slice(0, 300)}`;
  if (answer.status >= 500) return `${answer.status} for ${where}: ${answer.body.slice(0, 300)}`;
  const is_document = /^\/(?:docs|openapi)/.test(fuzz.path);
  const told = is_document ? undefined : TELLTALES.find((telltale) => telltale.test(answer.headers + answer.body));
  if (told !== undefined) return `${String(told)} in the answer to ${where}: ${answer.body.slice(0, 500)}`;
  // What browsers are sent to answers with pages, in which nothing that was sent may be alive.
  const is_page = fuzz.path.startsWith(PATHS.mcp_sign_in_callback) && answer.content_type.startsWith("text/html");
  if (is_page) return answer.body.includes("<script") ? `a script in the page for ${where}: ${answer.body}` : null;
  if (answer.status >= 400 && fuzz.method !== "HEAD" && !answer.content_type.startsWith("application/json")) {
    return `${answer.status} that is not JSON for ${where}: ${answer.body.slice(0, 200)}`;
  }
  return null;
}

// REQ-SAFE-013
test(
  `requests made of the OpenAPI document and of chance are answered, and nothing is told (SSE-12, SECR-05, seed ${SEED})`,
  async () => {
    const document = (await product.api("GET", "/openapi.json")).body as unknown as Parameters<typeof operationsIn>[0];
    // Logging out would end the session that all other requests are made with.
    const operations = operationsIn(document).filter(({ path }) => path !== PATHS.logout);
    const pool = await poolOf(product);
    const random = createRandom(SEED);
    const { send, close } = createSender(product.server_url);
    const complaints: string[] = [];
    const statuses = new Map<number, number>();
    let count = 0;
    const shake = async (until: number): Promise<void> => {
      while (Date.now() < until && complaints.length < 10) {
        const fuzz = requestFor(random.one(operations), pool, random);
        try {
          const answer = await send(fuzz);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const wrong = complaint(fuzz, answer);
          if (wrong !== null) complaints.push(wrong);
        } catch (error) {
          complaints.push(
            `${String(error)} for ${fuzz.method} ${fuzz.path.slice(0, 200)} ${String(fuzz.body).slice(0, 300)}`,
          );
        }
        count += 1;
      }
    };
    const run = async (seconds: number): Promise<void> => {
      const until = Date.now() + seconds * 1000;
      await Promise.all(Array.from({ length: WORKERS }, () => shake(until)));
    };
    await run(SECONDS / 4);
    const before = memoryMib();
    await run((SECONDS * 3) / 4);
    const grown = memoryMib() - before;
    close();
    expect(complaints).toEqual([]);
    expect(count).toBeGreaterThan(SECONDS * 5);
    // Both sides of the border were met: what passes and what is refused.
    for (const status of [200, 400, 401, 403, 404]) expect([...statuses.keys()]).toContain(status);
    expect(grown).toBeLessThan(GROWTH_MIB_MAX);
    expect((await product.api("GET", "/health")).body).toMatchObject({ version: expect.any(String) });
    const log = product.log();
    expect(log).not.toContain("request.failed");
    expect([JWT_SECRET, MODEL_KEY, product.token].filter((secret) => log.includes(secret))).toEqual([]);
  },
  SECONDS * 1000 + 90_000,
);

test("bytes that are no HTTP are refused, and the server goes on", async () => {
  const heads = [
    "\0\0\0\0",
    "GET\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "GET /health HTTP/1.1\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(100_000)}\r\n\r\n`,
    "POST /v1/api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /v1/api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "POST /v1/api/auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  ];
  for (const bytes of heads) {
    const answer = await sendBytes(product.server_url, bytes);
    expect(answer.split("\r\n")[0]).toMatch(/^$|^HTTP\/1\.1 4\d\d /);
  }
  expect((await product.api("GET", "/health")).status).toBe(200);
});
