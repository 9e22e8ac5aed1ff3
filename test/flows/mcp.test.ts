import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import { startProduct } from "../support/product.ts";

const EVERYTHING = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
const CONFIG = `
[mcp.servers.everything]
command = "node"
args = ["${EVERYTHING}", "stdio"]
[mcp.servers.broken]
command = "node"
args = ["-e", "process.exit(3)"]
`;

/** Programs of this machine whose command line holds a text. */
function running(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text);
    } catch {
      return false;
    }
  });
}

test.runIf(process.platform === "linux")(
  "health and doctor tell how each server stands, and no program of one outlives the server",
  async () => {
    const product = await startProduct({ server_only: true, config: CONFIG });
    onTestFinished(() => product.close());
    const states = async (): Promise<unknown> => (await product.api("GET", "/health")).body["mcp_servers"];
    await expect.poll(states, { timeout: 30_000 }).toEqual([
      { server: "everything", state: "ready", tools: expect.any(Number) },
      { server: "broken", state: "unavailable", tools: 0 },
    ]);
    const found = product.turnstone("doctor")["findings"] as { part: string; status: string; message: string }[];
    expect(found.filter(({ part }) => part.startsWith("MCP server"))).toMatchObject([
      { part: "MCP server everything", status: "ok", message: expect.stringContaining("is connected to it; tools: ") },
      { part: "MCP server broken", status: "failed", message: expect.stringContaining("cannot reach it") },
    ]);
    expect(running(EVERYTHING)).not.toEqual([]);
    await product.killServer();
    await expect.poll(() => running(EVERYTHING), { timeout: 15_000 }).toEqual([]);
    await product.startServer();
    await expect.poll(() => running(EVERYTHING).length, { timeout: 15_000 }).toBeGreaterThan(0);
    await product.stopServer();
    await expect.poll(() => running(EVERYTHING), { timeout: 15_000 }).toEqual([]);
  },
  90_000,
);
