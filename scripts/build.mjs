// Makes dist/: JavaScript from the sources, and beside it the files that they read at run time.
import { execFileSync } from "node:child_process";
import { cpSync, rmSync, statSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
execFileSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
for (const folder of ["src", "gateway", "tools"]) {
  const wanted = (path) => statSync(path).isDirectory() || !path.endsWith(".ts");
  cpSync(folder, `dist/${folder}`, { recursive: true, filter: wanted });
}
