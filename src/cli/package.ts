import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the package, be this file its source or what was built from it. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const above = dirname(folder);
    if (above === folder) throw new Error("No package.json stands above this file.");
    folder = above;
  }
  return folder;
}

/** The version of the package. */
export function packageVersion(): string {
  const content: { version: string } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  return content.version;
}
