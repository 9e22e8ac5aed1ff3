import { expect, test } from "vitest";
import { scrubEnvironment } from "./environment.ts";

test("names that promise a secret go, those that only sound alike stay (BASH-16, REQ-SAFE-004)", () => {
  const kept = scrubEnvironment({
    MONKEYTYPE: "1",
    KEYBOARD_LAYOUT: "us",
    TURKEY: "x",
    LESS_SECRET_TOKEN: "x",
    OPENAI_API_KEY: "x",
    AWS_ACCESS_KEY_ID: "x",
    PGPASSWORD: "x",
    GOOGLE_APPLICATION_CREDENTIALS: "x",
    npm_token: "x",
    PATH: "/bin",
    HOME: "/home/me",
    LANG: "de_DE.UTF-8",
    GONE: undefined,
  });
  expect(kept).toMatchObject({
    MONKEYTYPE: "1",
    KEYBOARD_LAYOUT: "us",
    TURKEY: "x",
    PATH: "/bin",
    HOME: "/home/me",
    LANG: "de_DE.UTF-8",
  });
  expect(Object.values(kept).filter((value) => value === "x")).toHaveLength(1);
});

test("a password in an address goes with its variable", () => {
  const kept = scrubEnvironment({ DATABASE_URL: "postgres://me:hunter2@db/x", HOMEPAGE: "http://example.org:80/a" });
  expect(kept).not.toHaveProperty("DATABASE_URL");
  expect(kept).toHaveProperty("HOMEPAGE");
});

test("what the owner allows passes, but nothing of ours", () => {
  const kept = scrubEnvironment({ CI_TOKEN: "a", TURNSTONE_JWT_SECRET: "b", TURNSTONE_PORT: "1" }, [
    "CI_TOKEN",
    "TURNSTONE_JWT_SECRET",
  ]);
  expect(kept).toHaveProperty("CI_TOKEN", "a");
  expect(Object.keys(kept).join()).not.toContain("TURNSTONE");
});

test("no pager and no prompt holds a command up (BASH-27)", () => {
  expect(scrubEnvironment({ PAGER: "less", TERM: "xterm" })).toMatchObject({
    PAGER: "cat",
    GIT_PAGER: "cat",
    TERM: "dumb",
  });
});
