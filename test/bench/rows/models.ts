import type { ModelRequest } from "../../../src/contracts/provider.ts";
import type { Message } from "../../../src/protocol/message.ts";
import { anthropicBody } from "../../../src/providers/anthropic_request.ts";
import { chatBody } from "../../../src/providers/chat_request.ts";
import { openaiCompatible } from "../../../src/providers/openai_compatible.ts";
import { responsesBody } from "../../../src/providers/responses_request.ts";
import { modelRequest } from "../../support/model_server/model_request.ts";
import { median, type Row } from "../measure.ts";
import { startModel } from "../subject.ts";

const MESSAGES = 10_000;
const SAMPLES = 25;
/** Requests before the clock counts, as in the rows of latency: who has a long conversation has built many. */
const WARM_UP = 30;
/** Chunks of one answer that is folded. */
const CHUNKS = 5000;

/** A conversation of questions, calls and results; one message is some two hundred characters. */
function conversation(): Message[] {
  return Array.from({ length: MESSAGES }, (_value, index): Message => {
    const text = `message ${index} `.repeat(14);
    const call_id = `call_${index - (index % 4)}`;
    if (index % 4 === 0) return { role: "user", content: [{ type: "text", text }] };
    if (index % 4 === 1) {
      return {
        role: "assistant",
        content: text,
        tool_calls: [{ id: call_id, name: "bash", arguments: '{"command":"ls"}' }],
      };
    }
    if (index % 4 === 3) return { role: "assistant", content: text, tool_calls: [] };
    return {
      role: "tool",
      call_id: `call_${index - 2}`,
      name: "bash",
      content: [{ type: "text", text }],
      is_error: false,
    };
  });
}

/** Milliseconds to build the request that one more message makes necessary: what was sent before is known. */
function buildTimes(body: (request: ModelRequest) => string): number[] {
  const messages = conversation();
  const request = modelRequest([], {});
  body({ ...request, messages });
  return Array.from({ length: WARM_UP + SAMPLES }, (_value, index) => {
    const more: Message[] = [...messages, { role: "user", content: [{ type: "text", text: `one more ${index}` }] }];
    const before = performance.now();
    body({ ...request, messages: more });
    return performance.now() - before;
  }).slice(WARM_UP);
}

/** Microseconds for one chunk of an answer, with all that reading it from a socket costs. */
async function foldTimes(): Promise<number[]> {
  const model = await startModel();
  const request = modelRequest([{ role: "user", content: [{ type: "text", text: `bench:text tokens=${CHUNKS}` }] }], {
    settings: { base_url: model.url },
  });
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const before = process.cpuUsage();
    for await (const event of openaiCompatible.stream(request, new AbortController().signal)) {
      if (event.type === "failed") throw new Error(event.failure.message);
    }
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / CHUNKS);
  }
  model.stop();
  return times;
}

/** The rows of one run. The bars are times, so they stand in the column of the floor. */
export async function modelRows(): Promise<Row[]> {
  const build = (name: string, body: (request: ModelRequest) => string): Row => ({
    name: `request of 10,000 messages, ${name} (bar 20 ms)`,
    unit: "ms",
    floor: 20,
    turnstone: median(buildTimes(body)),
    bar: 1,
  });
  return [
    { name: "folding, CPU per chunk (bar 30 us)", unit: "us", floor: 30, turnstone: median(await foldTimes()), bar: 1 },
    build("chat completions", chatBody),
    build("Messages", anthropicBody),
    build("Responses", responsesBody),
  ];
}
