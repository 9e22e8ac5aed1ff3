import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../structure/source.ts";

interface LockedPackage {
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  link?: boolean;
}

const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
  readFileSync(join(ROOT, "package-lock.json"), "utf8"),
);
const packages = Object.entries(lock.packages).filter(([path]) => path !== "");

test("every package of the lock file has a checksum and comes from the registry", () => {
  const loose = packages.filter(([, { resolved = "https://registry.npmjs.org/", integrity, link }]) => {
    return (
      link === true || integrity?.startsWith("sha512-") !== true || !resolved.startsWith("https://registry.npmjs.org/")
    );
  });
  expect(loose.map(([path]) => path)).toEqual([]);
});

test("no package needs an install script", () => {
  expect(packages.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path)).toEqual([]);
});

test("each test that the page on security names is there, and each threat has one", () => {
  const page = readFileSync(join(ROOT, "docs", "security.md"), "utf8");
  const rows = page
    .slice(page.indexOf("## Threats"), page.indexOf("## Secrets in settings"))
    .split("\n")
    .filter((line) => line.startsWith("| "));
  const named = rows
    .slice(1)
    .map((row) => [...(row.split(" | ").at(-1) ?? "").matchAll(/`([^`]+\.ts)`/g)].map(([, path]) => path ?? ""));
  expect(named.length).toBeGreaterThan(15);
  expect(named.every((paths) => paths.length > 0)).toBe(true);
  expect(named.flat().filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
