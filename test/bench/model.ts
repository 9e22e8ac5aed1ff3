import { createServer } from "node:http";

/**
 * The model of all benchmarks, in a process of its own: chat completions that do what the last message asks for in
 * `bench:` words, such as `bench:text tokens=20 pace=5` or `bench:rounds count=50 tool=read_file`. Times are those of
 * the machine's monotonic clock in microseconds, which all processes share.
 */
export function nowMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

interface Plan {
  tokens: number;
  pace_ms: number;
  rounds: number;
  parallel: number;
  tool: string;
  arguments: string;
}

interface Observed {
  received: number;
  answered: number;
  bytes: number;
}

const observed: Observed[] = [];

function planOf(text: string): Plan {
  const number = (name: string, fallback: number): number =>
    Number(new RegExp(`${name}=(\\d+)`).exec(text)?.[1] ?? fallback);
  return {
    tokens: number("tokens", 1),
    pace_ms: number("pace", 0),
    rounds: number("count", 0),
    parallel: number("parallel", 1),
    tool: /tool=(\w+)/.exec(text)?.[1] ?? "read_file",
    arguments: /arguments=(\{.*\})/.exec(text)?.[1] ?? '{"path":"bench.txt"}',
  };
}

interface WireMessage {
  role: string;
  content: unknown;
}

/** The newest message that carries a plan, and how many tool results came after it. */
function readRequest(body: string): { plan: Plan; results: number } {
  const { messages } = JSON.parse(body) as { messages: WireMessage[] };
  let results = 0;
  for (const message of messages.toReversed()) {
    if (message.role === "tool") results += 1;
    const text = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
    if (message.role === "user" && text.includes("bench:")) return { plan: planOf(text), results };
  }
  return { plan: planOf(""), results: 0 };
}

function chunk(delta: object, finish_reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason }];
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "bench", choices })}\n\n`;
}

const USAGE = `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "bench", choices: [], usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } })}\n\n`;

function main(): void {
  const server = createServer((request, response) => {
    if (request.url === "/observed") {
      response.end(JSON.stringify(observed.splice(0)));
      return;
    }
    if (request.method === "GET") {
      response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify({ object: "list", data: [{ id: "bench" }] }));
      return;
    }
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const received = nowMicroseconds();
      const body = Buffer.concat(pieces).toString();
      const seen: Observed = { received, answered: 0, bytes: body.length };
      observed.push(seen);
      const { plan, results } = readRequest(body);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const finish = (reason: string): void => {
        response.write(chunk({}, reason));
        response.write(USAGE);
        response.end("data: [DONE]\n\n", () => {
          seen.answered = nowMicroseconds();
        });
      };
      if (results < plan.rounds * plan.parallel) {
        const calls = Array.from({ length: plan.parallel }, (_value, index) => ({
          index,
          id: `call_${results}_${index}`,
          type: "function",
          function: { name: plan.tool, arguments: plan.arguments },
        }));
        response.write(chunk({ role: "assistant", tool_calls: calls }, null));
        finish("tool_calls");
        return;
      }
      let sent = 0;
      const next = (): void => {
        if (sent === plan.tokens) {
          finish("stop");
          return;
        }
        sent += 1;
        response.write(chunk({ content: `${nowMicroseconds()} ` }, null));
        if (plan.pace_ms > 0) setTimeout(next, plan.pace_ms);
        else if (sent % 20 === 0) setImmediate(next);
        else next();
      };
      next();
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.send?.({ port: typeof address === "object" && address !== null ? address.port : 0 });
  });
}

if (process.send !== undefined && process.argv[1]?.endsWith("model.ts") === true) main();
