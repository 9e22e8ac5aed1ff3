import { expect, test } from "vitest";
import { REDACTED, createRedactor } from "./redact.ts";

const redact = createRedactor(["our-own-value-1", 'quote"and/slash']);

const SECRETS: readonly string[] = [
  `ts_${"0a".repeat(32)}`,
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl",
  "sk-proj-abcdefghijkl1234567890",
  "sk-ant-api03-AbCdEf_123-xyzxyzxyz",
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "gho_abcdefghijklmnopqrstuvwxyz0123456789",
  "github_pat_11ABCDEFG0123456789_abcdefghij",
  "AKIAIOSFODNN7EXAMPLE",
  "xoxb-123456789012-abcdefABCDEF",
  ["MTk4NjIyNDgzNDcxOTI1MjQ4", "Cl2FMQ", "ZnCjm1XVW7vRze4b7Cq4se7kKWs"].join("."),
  "our-own-value-1",
];

test.each(SECRETS)("a token is taken out wherever it stands: %s (SECR-03)", (secret) => {
  for (const text of [secret, `see ${secret}, please`, `"${secret}"`, `url?x=${secret}&y=1`, `'k': '${secret}'`]) {
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain(REDACTED);
  }
});

test("own values go in each form that carries them", () => {
  const value = 'quote"and/slash';
  for (const form of [JSON.stringify(value), encodeURIComponent(value), Buffer.from(value).toString("base64")]) {
    expect(redact(`x ${form} y`)).toContain(REDACTED);
  }
});

test.each([
  ["OPENAI_API_KEY=abcdef", "OPENAI_API_KEY=[redacted]"],
  ["export GITHUB_TOKEN='abc def'", "export GITHUB_TOKEN='[redacted]'"],
  ["{'db_password': 'hunter', 'user': 'me'}", "{'db_password': '[redacted]', 'user': 'me'}"],
  ['"clientSecret": "pa$$word"', '"clientSecret": "[redacted]"'],
  ['"{\\"password\\": \\"hunter\\"}"', '"{\\"password\\": \\"[redacted]\\"}"'],
  ['api_key = "abc-123"', 'api_key = "[redacted]"'],
  ["apiKey: abc123", "apiKey: [redacted]"],
  ["authorization: 0123456789abcdef", "authorization: [redacted]"],
  ["password=hunter2 next", "password=[redacted] next"],
  ["postgres://app:p4ss!w@db:5432/x", "postgres://app:[redacted]@db:5432/x"],
  ["redis://:onlypass@cache", "redis://:[redacted]@cache"],
  ["Server=x;Password=abc12345;Port=1", "Server=x;Password=[redacted];Port=1"],
  ["authorization: bearer abcdefgh", "authorization: bearer [redacted]"],
  ["AUTHORIZATION: BEARER abcdefgh", "AUTHORIZATION: BEARER [redacted]"],
  ['"Authorization": "Basic dXNlcjpwYXNz"', '"Authorization": "Basic [redacted]"'],
  ["curl -H 'Authorization: Bot abcdefg.h'", "curl -H 'Authorization: Bot [redacted]'"],
  ["use Bearer abc123def456 there", "use Bearer [redacted] there"],
])("%s (SECR-03)", (text, expected) => {
  expect(redact(text)).toBe(expected);
  expect(redact(expected)).toBe(expected);
});

test("a private key goes whole, and also one that was cut off", () => {
  const key = `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----`;
  expect(redact(`before\n${key}\nafter`)).toBe("before\n[redacted]\nafter");
  expect(redact(key.slice(0, 70))).toBe(REDACTED);
});

test.each([
  "monkey=1",
  "turkey=12345678",
  "key=value12",
  "const token = parser.next();",
  "connect(user=user, password=password)",
  "token=self.token2()",
  "password: string;",
  "secret: Uint8Array, clock: Clock",
  "const TOKEN: TokenRow = {",
  "authorization: request.headers.authorization,",
  'login({ username: "anna", password: "wrong" })',
  'token: "/v1/api/tokens/:token_id"',
  "const credential = '_callApiKey' in connection;",
  "max_tokens: 4096",
  "MAX_TOKEN=4096",
  '"primary_key": "command"',
  "Bearer authentication is described below",
  "http://localhost:3000/@scope/package",
  "git@github.com:org/repo.git",
  "task-force-for-something-long-2000",
  "API_KEY=$OTHER_KEY",
  "PASSWORD=${PASSWORD}",
  "sha256 0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
  "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
])("%s is left alone (SECR-04)", (text) => {
  expect(redact(text)).toBe(text);
});

test("time grows with the text and no faster (SECR-04)", () => {
  const parts = [
    "monkey=",
    "eyJ",
    "eyJaaaaaaaa.",
    "sk-",
    "A_KEY=",
    "://a:",
    "Bearer ",
    "-----BEGIN PRIVATE KEY-----",
    "a_token",
    "x",
  ];
  for (const part of [...parts, "TOKEN", "authorization:", "password='"]) {
    const time = (length: number): number => {
      const text = part.repeat(Math.ceil(length / part.length));
      const start = process.cpuUsage();
      redact(text);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    time(100_000);
    // Quadratic time would be sixteen times as long.
    expect(time(1_000_000), part).toBeLessThan(10 * time(250_000) + 200);
  }
});
