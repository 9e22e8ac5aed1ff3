import { expect, test } from "vitest";
import { checkUrl, openedEndpoints } from "./web_url.ts";

const NOTHING = new Set<string>();

/** The URL as it would be fetched, or why not. */
function check(text: string, opened: ReadonlySet<string> = NOTHING): string {
  const checked = checkUrl(text, opened);
  return checked.ok ? checked.url.href : `refused: ${checked.error}`;
}

test("every spelling of a loopback address is seen through (WEB-05)", () => {
  const spellings = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "①②⑦.⓪.⓪.①",
    "１２７.０.０.１",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
  ];
  const open = spellings.filter((host) => !/^refused: .*private address/.test(check(`http://${host}:8080/`)));
  expect(open).toEqual([]);
});

test("a URL is judged by its real host, and credentials are refused (WEB-11)", () => {
  expect(check("http://good.com@127.0.0.1/")).toMatch(/^refused: .*user name or password/);
  expect(check("http://user:word@good.com/")).toMatch(/^refused: .*user name or password/);
  expect(check("http://:word@good.com/")).toMatch(/^refused: .*user name or password/);
  expect(check("http://127.0.0.1\\@good.com/")).toMatch(/^refused: 127\.0\.0\.1 is at a private address/);
  expect(check("http:\\\\127.0.0.1/")).toMatch(/^refused: 127\.0\.0\.1/);
  expect(check("http://good.com#@127.0.0.1/")).toBe("http://good.com/#@127.0.0.1/");
  expect(check("ht\ntp://127.0.0\t.1/")).toMatch(/^refused: 127\.0\.0\.1/);
});

test("only web addresses on usual ports are let through", () => {
  for (const url of [
    "file:///etc/passwd",
    "ftp://a.com/",
    "data:text/plain,x",
    "javascript:1",
    "gopher://a.com:8000/",
  ]) {
    expect(check(url)).toMatch(/^refused: .*URLs cannot be fetched/);
  }
  for (const text of ["", "example.com", "//example.com", "http://", "http://a b/", "http://[::1"]) {
    expect(check(text)).toMatch(/^refused: .* is not a URL/);
  }
  for (const port of [1, 22, 25, 81, 444, 1023]) expect(check(`http://a.com:${port}/`)).toMatch(/^refused: Port/);
  for (const port of [443, 1024, 8080, 65535]) expect(check(`http://a.com:${port}/`)).toBe(`http://a.com:${port}/`);
  expect(check(`http://a.com/${"x".repeat(8_000)}`)).toMatch(/^refused: .*longer than/);
});

test("the settings open hosts as a URL names them, whatever the spelling", () => {
  const opened = openedEndpoints(["Intranet.Local:80", "[::1]:8443", "127.0.0.1:631", "no-port"]);
  expect([...opened]).toEqual(["intranet.local:80", "[::1]:8443", "127.0.0.1:631"]);
  expect(checkUrl("http://INTRANET.local/x", opened)).toMatchObject({ ok: true, opened: true });
  expect(checkUrl("https://intranet.local/x", opened)).toMatchObject({ ok: true, opened: false });
  expect(checkUrl("https://[0::1]:8443/", opened)).toMatchObject({ ok: true, opened: true });
  expect(checkUrl("http://127.1:631/", opened)).toMatchObject({ ok: true, opened: true });
  expect(checkUrl("http://127.0.0.1:8080/", opened)).toMatchObject({ ok: false });
});
