/**
 * The helper process: it starts programs for the server and tells it what they say and how they end. It is small, so
 * that a fork of it is cheap, and it holds no secret, since a program can read its parent's environment. When the
 * server goes away, its end of the stream closes, and every program ends with it.
 */
import process from "node:process";
import { Fifos } from "./spawn_fifos.ts";
import { FRAME_KINDS, FrameReader, encodeFrame, encodeNumber, type Frame, type StartOrder } from "./spawn_frames.ts";
import { startJob, type Job, type JobReports } from "./spawn_job.ts";
import { Spares } from "./spawn_spares.ts";

/** Bytes on their way to the server beyond which error output is dropped rather than kept. */
const ERRORS_WAITING_BYTES_MAX = 1024 * 1024;

const jobs = new Map<number, Job>();
const fifos = new Fifos();
const spares = new Spares((order) => startJob(order, fifos));
const reader = new FrameReader();

process.stdin.on("data", (piece: Buffer) => {
  for (const frame of reader.push(piece)) obey(frame);
});
process.stdin.on("close", endAll);
process.stdout.on("error", endAll);

function obey({ kind, job: number, payload }: Frame): void {
  switch (kind) {
    case FRAME_KINDS.start:
      start(number, JSON.parse(payload.toString()) as StartOrder);
      return;
    case FRAME_KINDS.input:
      jobs.get(number)?.write(payload);
      return;
    case FRAME_KINDS.input_end:
      jobs.get(number)?.endInput();
      return;
    case FRAME_KINDS.stop:
      jobs.get(number)?.stop("aborted");
      return;
    case FRAME_KINDS.credit:
      jobs.get(number)?.credit(payload.readUInt32BE(0));
      return;
    default:
      throw new Error(`The spawn helper does not know frames of kind ${kind}.`);
  }
}

function start(number: number, order: StartOrder): void {
  const job = (order.spare ? spares.take(order) : undefined) ?? startJob(order, fifos);
  jobs.set(number, job);
  job.attach(order.timeout_ms, reportsOf(number, order));
}

function reportsOf(number: number, order: StartOrder): JobReports {
  return {
    started: (pid) => process.stdout.write(encodeFrame(FRAME_KINDS.started, number, encodeNumber(pid))),
    output: (bytes) => process.stdout.write(encodeFrame(FRAME_KINDS.output, number, bytes)),
    errorOutput(bytes) {
      if (process.stdout.writableLength < ERRORS_WAITING_BYTES_MAX) {
        process.stdout.write(encodeFrame(FRAME_KINDS.error_output, number, bytes));
      }
    },
    ended: (result) => {
      jobs.delete(number);
      process.stdout.write(encodeFrame(FRAME_KINDS.ended, number, Buffer.from(JSON.stringify(result))));
      if (order.spare && result.status === "exited") spares.prepare(order);
    },
  };
}

function endAll(): void {
  for (const job of jobs.values()) job.kill();
  spares.close();
  fifos.close();
  process.exit(0);
}
