import type { ServerResponse } from "node:http";
import type { RecordedRequest } from "./model_server.ts";
import type { AnswerOptions, Ending, Framing, Reply } from "./reply.ts";
import type { Frame, Wire } from "./wire.ts";

/** Bytes that go out at a time when characters are to be cut apart: less than the longest UTF-8 sequence. */
const SPLIT_BYTES = 3;

export interface Exchange {
  wire: Wire;
  request: RecordedRequest;
  outgoing: ServerResponse;
  pace_ms: number;
}

/** Plays one reply to its end. */
export async function sendReply(reply: Reply, exchange: Exchange): Promise<void> {
  const { outgoing } = exchange;
  switch (reply.kind) {
    case "gate":
      await Promise.race([reply.opened, hangUpOf(outgoing)]);
      return sendReply(reply.reply, exchange);
    case "silence":
      return hangUpOf(outgoing);
    case "hang_up":
      outgoing.destroy();
      return;
    case "status":
      outgoing.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(reply.body);
      return;
    case "raw":
      outgoing.writeHead(200, { "content-type": reply.content_type });
      for (const piece of reply.pieces) await write(outgoing, Buffer.from(piece));
      if (reply.ending === "end") outgoing.end();
      else reset(outgoing);
      return;
    case "answer":
      return sendAnswer(reply.answer, reply.ending, exchange);
  }
}

async function sendAnswer(answer: AnswerOptions, ending: Ending, exchange: Exchange): Promise<void> {
  const { wire, request, outgoing } = exchange;
  if (request.body["stream"] !== true) {
    outgoing
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(wire.whole(answer, request.body)));
    return;
  }
  outgoing.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  outgoing.flushHeaders();
  for (let comments = answer.warm_up?.comments ?? 0; comments > 0 && !outgoing.destroyed; comments -= 1) {
    outgoing.write(": thinking\n\n");
    await wait(answer.warm_up?.every_ms ?? 0);
  }
  const all = wire.frames(answer, request.body);
  const frames = ending.kind === "whole" ? all : all.slice(0, ending.after_frames);
  await sendFrames(frames, answer, exchange);
  await finish(ending, answer.framing ?? {}, exchange);
}

async function sendFrames(frames: readonly Frame[], answer: AnswerOptions, exchange: Exchange): Promise<void> {
  const { outgoing, request } = exchange;
  const pace_ms = answer.pace_ms ?? exchange.pace_ms;
  const framing = answer.framing ?? {};
  const start = performance.now();
  let tokens = 0;
  for (const frame of frames) {
    if (outgoing.destroyed) return;
    if (frame.token && pace_ms > 0) {
      tokens += 1;
      await wait(start + tokens * pace_ms - performance.now());
    }
    const bytes = encode(frame, framing);
    if (frame.token) request.tokens_sent_at.push(performance.now());
    if (framing.split_bytes === true) await writeSplit(outgoing, bytes);
    else if (!outgoing.write(bytes)) await write(outgoing, new Uint8Array());
  }
}

async function finish(ending: Ending, framing: Framing, { wire, outgoing }: Exchange): Promise<void> {
  switch (ending.kind) {
    case "whole":
    case "end":
      outgoing.end();
      return;
    case "reset":
      await write(outgoing, new Uint8Array());
      reset(outgoing);
      return;
    case "error":
      outgoing.end(encode(wire.errorFrame(ending.error), framing));
      return;
    case "stall": {
      const { keep_alive_ms } = ending;
      const timer =
        keep_alive_ms === undefined ? null : setInterval(() => outgoing.write(": keep-alive\n\n"), keep_alive_ms);
      await hangUpOf(outgoing);
      if (timer !== null) clearInterval(timer);
      return;
    }
  }
}

function encode(frame: Frame, framing: Framing): Buffer {
  const line = framing.crlf === true ? "\r\n" : "\n";
  const space = framing.no_space === true ? "" : " ";
  const comment = framing.comments === true ? `: still here${line}` : "";
  const event = frame.event === undefined ? "" : `event:${space}${frame.event}${line}`;
  return Buffer.from(`${comment}${event}data:${space}${frame.data}${line}${line}`);
}

async function writeSplit(outgoing: ServerResponse, bytes: Buffer): Promise<void> {
  for (let start = 0; start < bytes.length; start += SPLIT_BYTES) {
    await write(outgoing, bytes.subarray(start, start + SPLIT_BYTES));
  }
}

/** Resolves when the bytes have left the process, or nobody listens any more. */
function write(outgoing: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.destroyed) resolve();
    else outgoing.write(bytes, () => resolve());
  });
}

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

function hangUpOf(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.destroyed) resolve();
    else outgoing.once("close", resolve);
  });
}

function wait(milliseconds: number): Promise<void> {
  return milliseconds <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, milliseconds));
}
