/**
 * An MCP server for tests, over standard input and output, that does whatever it is told to: by its first argument, a
 * JSON object of {@link HostileOptions}, and by the arguments of its tools.
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface HostileOptions {
  /** Lines that do not belong there, before anything else. */
  noise?: string[];
  stderr_bytes?: number;
  /** Milliseconds before the handshake is answered; -1 for never. */
  answer_after_ms?: number;
  /** It ends with this code at once. */
  exit_code?: number;
  /** Pieces of at most so many bytes go out on their own. */
  piece_bytes?: number;
  /** Tools as they go over the wire, instead of its own. */
  tools?: unknown[];
  /** A JSON file of tools that is read at each list; while the file is missing the list fails. */
  tools_file?: string;
  page_size?: number;
  pushes?: boolean;
  capabilities?: Record<string, unknown>;
  /** Where it notes what it gets, one JSON object a line. */
  record?: string;
}

const options = JSON.parse(process.argv[2] ?? "{}") as HostileOptions;
const OBJECT = { type: "object" };

/** What its own tools do, by name. */
const TOOLS: Record<string, (args: Record<string, unknown>, id: unknown, token: unknown) => void> = {
  echo: (args, id) => answer(id, { content: [{ type: "text", text: String(args["text"]) }] }),
  give: (args, id) => answer(id, args["result"]),
  big: (args, id) => answer(id, { content: [{ type: "text", text: "x".repeat(Number(args["bytes"])) }] }),
  refuse: (args, id) =>
    send({ id, error: { code: Number(args["code"] ?? -32_000), message: String(args["message"]) } }),
  crash: () => process.exit(7),
  hang: () => {},
  environment: (_args, id) => answer(id, { content: [{ type: "text", text: JSON.stringify(process.env) }] }),
  slow(args, id, token) {
    const steps = Number(args["steps"]);
    const step_ms = Number(args["step_ms"]);
    let step = 0;
    const timer = setInterval(() => {
      step += 1;
      notify("notifications/progress", { progressToken: token, progress: step, total: steps, message: `step ${step}` });
      if (step < steps) return;
      clearInterval(timer);
      answer(id, { content: [{ type: "text", text: "done at last" }] });
    }, step_ms);
  },
  later: (args, id) =>
    void setTimeout(() => answer(id, { content: [{ type: "text", text: String(args["text"]) }] }), Number(args["ms"])),
  changed(args, id) {
    for (let count = 0; count < Number(args["times"]); count += 1) notify("notifications/tools/list_changed", {});
    answer(id, { content: [] });
  },
  ask(args, id) {
    const own = `ask-${String(id)}`;
    waiting.set(own, (reply) => answer(id, { content: [{ type: "text", text: JSON.stringify(reply) }] }));
    send({ id: own, method: args["method"], params: args["params"] ?? {} });
  },
  fork(_args, id) {
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    answer(id, { content: [{ type: "text", text: String(child.pid) }] });
  },
};

const waiting = new Map<string, (reply: unknown) => void>();

function write(text: string): void {
  const bytes = Buffer.from(text);
  const size = options.piece_bytes ?? bytes.length;
  for (let at = 0; at < bytes.length; at += size) process.stdout.write(bytes.subarray(at, at + size));
}

function send(message: Record<string, unknown>): void {
  write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function answer(id: unknown, result: unknown): void {
  send({ id, result });
}

function notify(method: string, params: unknown): void {
  send({ method, params });
}

function listTools(): unknown[] {
  if (options.tools !== undefined) return options.tools;
  if (options.tools_file !== undefined) return JSON.parse(readFileSync(options.tools_file, "utf8")) as unknown[];
  return Object.keys(TOOLS).map((name) => ({ name, description: `${name} for tests`, inputSchema: OBJECT }));
}

function onRequest(id: unknown, method: string, params: Record<string, unknown>): void {
  switch (method) {
    case "initialize":
      return onInitialize(id, params);
    case "ping":
      return answer(id, {});
    case "tools/list": {
      if (options.tools_file !== undefined && !existsSync(options.tools_file)) {
        return send({ id, error: { code: -32_603, message: "the list is broken" } });
      }
      const tools = listTools();
      const size = options.page_size ?? tools.length;
      const from = Number(params["cursor"] ?? 0);
      const next = from + size < tools.length ? { nextCursor: String(from + size) } : {};
      return answer(id, { tools: tools.slice(from, from + size), ...next });
    }
    case "tools/call": {
      const meta = params["_meta"] as { progressToken?: unknown } | undefined;
      const run = TOOLS[String(params["name"])] ?? TOOLS["echo"];
      return run?.((params["arguments"] ?? {}) as Record<string, unknown>, id, meta?.progressToken);
    }
    default:
      return send({ id, error: { code: -32_601, message: `no ${method}` } });
  }
}

function onInitialize(id: unknown, params: Record<string, unknown>): void {
  const result = {
    protocolVersion: params["protocolVersion"],
    capabilities: { tools: { listChanged: options.pushes ?? false }, ...options.capabilities },
    serverInfo: { name: "hostile", version: "1" },
  };
  const delay = options.answer_after_ms ?? 0;
  if (delay === 0) answer(id, result);
  else if (delay > 0) setTimeout(() => answer(id, result), delay);
}

function onLine(line: string): void {
  if (options.record !== undefined) appendFileSync(options.record, `${line}\n`);
  const message = JSON.parse(line) as Record<string, unknown>;
  const { id, method } = message;
  if (typeof method === "string" && id !== undefined) {
    onRequest(id, method, (message["params"] ?? {}) as Record<string, unknown>);
  } else if (method === undefined) waiting.get(String(id))?.(message["result"] ?? message["error"]);
}

if (options.exit_code !== undefined) {
  process.stderr.write("the settings are wrong\n");
  process.exit(options.exit_code);
}
for (const line of options.noise ?? []) process.stdout.write(`${line}\n`);
if (options.stderr_bytes !== undefined) {
  process.stderr.write(`${"e".repeat(99)}\n`.repeat(Math.ceil(options.stderr_bytes / 100)));
}
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text: string) => {
  const lines = `${rest}${text}`.split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) if (line.trim() !== "") onLine(line);
});
process.stdin.on("end", () => process.exit(0));
