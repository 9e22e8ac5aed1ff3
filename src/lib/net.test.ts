import { gzipSync } from "node:zlib";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  practiceInternet,
  PUBLIC_ADDRESS,
  respond,
  startWebServer,
  type Names,
  type WebServer,
} from "../../test/support/web_server.ts";
import { guardedFetch, type Fetched, type FetchOptions } from "./net.ts";

/** What the public site serves, by path. */
let pages: Record<string, (response: ServerResponse) => void>;
let site: WebServer;
let inside: WebServer;

beforeEach(async () => {
  pages = { "/": (response) => respond(response, "text/plain", "hello") };
  site = await startWebServer("public", (request, response) => {
    const page = pages[request.url ?? ""];
    if (page === undefined) response.writeHead(404).end();
    else page(response);
  });
  inside = await startWebServer("private", (_request, response) => respond(response, "text/plain", "secret"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all([site.close(), inside.close()]);
});

interface Setting extends Pick<FetchOptions, "allow_private" | "total_ms"> {
  names?: Names;
  signal?: AbortSignal;
}

function get(url: string, { names, signal, ...options }: Setting = {}): Promise<Fetched> {
  return guardedFetch(url, { ...practiceInternet(names), ...options }, signal ?? new AbortController().signal);
}

/** A page of the public site. */
function at(path: string): string {
  return `http://site.test:${site.port}${path}`;
}

/** The text, or the refusal. */
async function read(url: string, setting: Setting = {}): Promise<string> {
  const fetched = await get(url, setting);
  return fetched.ok ? new TextDecoder().decode(fetched.bytes) : `refused: ${fetched.error}`;
}

function redirect(to: string): (response: ServerResponse) => void {
  return (response) => response.writeHead(302, { location: to }).end();
}

test("a page comes with its type and charset, after redirects that stay outside", async () => {
  pages["/start"] = redirect("../there#part");
  pages["/there"] = (response) => respond(response, 'Text/HTML; charset="Shift_JIS"', "<p>x");
  expect(await get(at("/start"))).toEqual({
    ok: true,
    url: at("/there#part"),
    media_type: "text/html",
    charset: "Shift_JIS",
    bytes: new TextEncoder().encode("<p>x"),
    truncated: false,
  });
});

test("an address may be written as a number or in IPv6 when it is public", async () => {
  expect(await read(`http://${PUBLIC_ADDRESS}:${site.port}/`)).toBe("hello");
  expect(await read(`http://[2606:4700::1111]:${site.port}/`)).toBe("hello");
});

test("a redirect into private space is refused before anything is sent (WEB-01, REQ-SAFE-007)", async () => {
  const targets = ["127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "[::7f00:1]", "inside.test", "localhost"];
  for (const [index, host] of targets.entries()) pages[`/${index}`] = redirect(`http://${host}:${inside.port}/`);
  for (const [index, host] of targets.entries()) {
    const answer = await read(at(`/${index}`), { names: { "inside.test": ["127.0.0.1"], localhost: ["127.0.0.1"] } });
    expect(answer, host).toMatch(/^refused: .*private address/);
  }
  expect(inside.requests).toEqual([]);
});

// REQ-SAFE-006
test("a DNS answer that changes leads nowhere: what is judged is what is connected to (WEB-02)", async () => {
  const answers = [[PUBLIC_ADDRESS], ["127.0.0.1"]];
  const names = { "turning.test": () => answers.shift() ?? ["127.0.0.1"] };
  expect(await read(`http://turning.test:${site.port}/`, { names })).toBe("hello");
  expect(await read(`http://turning.test:${inside.port}/`, { names })).toMatch(
    /^refused: turning\.test is at a private/,
  );
  expect(inside.requests).toEqual([]);
});

test("each redirect to the same host is judged by an answer of its own (WEB-02, WEB-12)", async () => {
  const answers = [[PUBLIC_ADDRESS], ["127.0.0.1"]];
  pages["/again"] = redirect("/");
  const names = { "turning.test": () => answers.shift() ?? ["127.0.0.1"] };
  expect(await read(`http://turning.test:${site.port}/again`, { names })).toMatch(
    /^refused: turning\.test is at a private/,
  );
  expect(site.requests).toEqual(["/again"]);
});

test("one private address among public ones spoils the host, in either order (WEB-09)", async () => {
  const names = { "mixed.test": [PUBLIC_ADDRESS, "10.0.0.1"], "dexim.test": ["::1", PUBLIC_ADDRESS] };
  expect(await read(`http://mixed.test:${site.port}/`, { names })).toMatch(/^refused: .*private/);
  expect(await read(`http://dexim.test:${site.port}/`, { names })).toMatch(/^refused: .*private/);
  expect(site.requests).toEqual([]);
});

test("a name that cannot be looked up, or has no address, is refused (WEB-10)", async () => {
  expect(await read("http://gone.test/")).toMatch(/^refused: The name gone\.test could not be looked up/);
  expect(await read("http://empty.test/", { names: { "empty.test": [] } })).toBe("refused: empty.test has no address.");
});

test("addresses that are nobody's page stay closed, whatever the settings open (WEB-06, WEB-07)", async () => {
  const hosts = [
    "169.254.169.254",
    "168.63.129.16",
    "192.0.0.192",
    "100.100.100.200",
    "[fd00:ec2::254]",
    "0.0.0.0",
    "[::]",
  ];
  for (const host of hosts) {
    expect(await read(`http://${host}/`, { allow_private: [`${host}:80`] }), host).toMatch(
      /^refused: .*never fetched from/,
    );
  }
  const names = { "meta.test": ["169.254.169.254"] };
  expect(await read("http://meta.test/", { names, allow_private: ["meta.test:80"] })).toMatch(/never fetched from/);
});

test("redirects to other schemes, in circles and without end are given up (WEB-12)", async () => {
  pages["/file"] = redirect("file:///etc/passwd");
  pages["/self"] = redirect("/self");
  pages["/login"] = redirect(`http://user:word@site.test:${site.port}/`);
  for (let hop = 0; hop < 30; hop += 1) pages[`/hop${hop}`] = redirect(`/hop${hop + 1}`);
  expect(await read(at("/file"))).toMatch(/^refused: A redirect was not followed: "file:"/);
  expect(await read(at("/login"))).toMatch(/^refused: A redirect was not followed: .*user name or password/);
  expect(await read(at("/self"))).toMatch(/^refused: .*redirects more than 5 times/);
  site.requests.length = 0;
  expect(await read(at("/hop0"))).toMatch(/^refused: .*redirects more than 5 times/);
  expect(site.requests).toHaveLength(6);
});

test("five redirects are followed", async () => {
  for (let hop = 0; hop < 5; hop += 1) pages[`/hop${hop}`] = redirect(`/hop${hop + 1}`);
  pages["/hop5"] = (response) => respond(response, "text/plain", "arrived");
  expect(await read(at("/hop0"))).toBe("arrived");
});

test("proxies of the environment are not asked (WEB-13)", async () => {
  for (const name of ["HTTP_PROXY", "http_proxy", "ALL_PROXY"]) vi.stubEnv(name, `http://127.0.0.1:${inside.port}`);
  vi.stubEnv("NODE_USE_ENV_PROXY", "1");
  expect(await read(at("/"))).toBe("hello");
  expect(inside.requests).toEqual([]);
});

test("a host that the settings name is reached, by that port alone", async () => {
  const names = { "wiki.test": ["127.0.0.1"] };
  const allow_private = [`wiki.test:${inside.port}`, `127.0.0.1:${site.port}`];
  expect(await read(`http://wiki.test:${inside.port}/`, { names, allow_private })).toBe("secret");
  expect(await read(`http://127.0.0.1:${inside.port}/`, { names, allow_private })).toMatch(/^refused: .*private/);
});

test("a public page cannot send on to a private host that the settings name", async () => {
  pages["/in"] = redirect(`http://wiki.test:${inside.port}/`);
  const allow_private = [`wiki.test:${inside.port}`];
  expect(await read(at("/in"), { names: { "wiki.test": ["127.0.0.1"] }, allow_private })).toMatch(
    /^refused: .*private/,
  );
  expect(inside.requests).toEqual([]);
});

test("a body without end stops at 10 MB, also when it is unpacked (WEB-14)", async () => {
  let sent = 0;
  pages["/endless"] = (response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const more = (): void => {
      while (!response.destroyed) {
        sent += 65_536;
        if (!response.write("a".repeat(65_536))) break;
      }
    };
    response.on("drain", more);
    more();
  };
  const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, 97), { level: 1 });
  pages["/bomb"] = (response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end(bomb);
  };
  for (const path of ["/endless", "/bomb"]) {
    const fetched = await get(at(path));
    expect(fetched, path).toMatchObject({ ok: true, truncated: true });
    expect(fetched.ok && fetched.bytes.length, path).toBe(10 * 1024 * 1024);
  }
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

test("a body that drips, and one that never comes, end at the limit for the whole (WEB-14, WEB-16)", async () => {
  pages["/drip"] = (response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const timer = setInterval(() => response.write("."), 20);
    response.on("close", () => clearInterval(timer));
  };
  pages["/silent"] = () => {};
  for (const path of ["/drip", "/silent"]) {
    expect(await read(at(path), { total_ms: 300 })).toBe(
      "refused: The page did not arrive within 0.3 s, so it was given up.",
    );
  }
});

test("cancelling ends it at once", async () => {
  const controller = new AbortController();
  pages["/silent"] = () => controller.abort();
  expect(await read(at("/silent"), { signal: controller.signal })).toBe("refused: Fetching was cancelled.");
});

test("what is no text is described, not read (WEB-18)", async () => {
  pages["/pdf"] = (response) => {
    response.writeHead(200, { "content-type": "application/pdf", "content-length": "2048" }).end(Buffer.alloc(2048));
  };
  pages["/bytes"] = (response) => respond(response, "application/octet-stream", "abc");
  pages["/unnamed"] = (response) => response.writeHead(200).end("abc");
  expect(await read(at("/pdf"))).toMatch(/^refused: This is application\/pdf of 2,048 bytes, not text/);
  expect(await read(at("/bytes"))).toMatch(/^refused: This is application\/octet-stream/);
  expect(await read(at("/unnamed"))).toMatch(/^refused: The server does not say what kind of content this is/);
});

test("answers that are errors, broken or refused say so in a sentence", async () => {
  pages["/broken"] = (response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end("this is not gzip");
  };
  pages["/cut"] = (response) => {
    response
      .writeHead(200, { "content-type": "text/plain", "content-length": "100" })
      .write("abc", () => response.destroy());
  };
  expect(await read(at("/nowhere"))).toBe(
    `refused: site.test:${site.port} answered 404 Not Found for ${at("/nowhere")}.`,
  );
  expect(await read(at("/broken"))).toBe("refused: The page is compressed in a way that cannot be unpacked.");
  expect(await read(at("/cut"))).toBe("refused: The page could not be fetched: the connection was closed.");
  await inside.close();
  expect(await read(`http://site.test:${inside.port}/`)).toBe(
    "refused: The page could not be fetched: nothing listens at that address.",
  );
});
