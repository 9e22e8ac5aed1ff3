import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./structure/source.ts";

const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8").replace(/\\\n/g, " ");
const ignore = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n");

test("every file that the image copies is there and reaches the builder", () => {
  const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(
    (match) => match[1]?.trim().split(/\s+/).slice(0, -1) ?? [],
  );
  expect(sources.length).toBeGreaterThan(5);
  for (const source of sources) {
    expect(existsSync(join(ROOT, source)), source).toBe(true);
    expect(ignore, `.dockerignore hides ${source}`).toContain(`!${source}`);
  }
});

test("every stage that is copied from is built before", () => {
  const lines = dockerfile.split("\n");
  const stages = new Set<string>();
  const missing: string[] = [];
  for (const line of lines) {
    const stage = /^FROM \S+ AS (\S+)$/.exec(line)?.[1];
    if (stage !== undefined) stages.add(stage);
    const from = /^COPY --from=(\S+)/.exec(line)?.[1];
    if (from !== undefined && !stages.has(from)) missing.push(from);
  }
  expect(missing).toEqual([]);
  expect([...stages]).toEqual(["build", "modules", "runtime"]);
});

test("the image runs as an ordinary user and says when it is well", () => {
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  expect(dockerfile.indexOf("USER node")).toBeLessThan(dockerfile.indexOf("ENTRYPOINT"));
});

test("no secret stands in the image or in the compose file (REQ-SAFE-015)", () => {
  const compose = readFileSync(join(ROOT, "compose.yaml"), "utf8");
  for (const text of [dockerfile, compose]) {
    for (const line of text.split("\n").filter((one) => /(SECRET|TOKEN|KEY)\b.*[:=]/.test(one))) {
      expect(line).toMatch(/\$\{|""/);
    }
  }
});
