import { Agent, request } from "node:http";
import { connect } from "node:net";
import type { FuzzRequest } from "./requests.ts";

/** Milliseconds after which an unanswered request counts as hanging; far more than a busy machine needs. */
const HANGS_MS = 20_000;

/** Characters of an answer that are looked at. */
const BODY_LENGTH_MAX = 2_000_000;

export interface FuzzAnswer {
  status: number;
  content_type: string;
  headers: string;
  body: string;
}

/** Sends requests over kept connections, streams only as far as their head. Rejects for one that hangs. */
export function createSender(origin: string): { send: (fuzz: FuzzRequest) => Promise<FuzzAnswer>; close: () => void } {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const send = ({ method, path, headers, body }: FuzzRequest): Promise<FuzzAnswer> =>
    new Promise((resolve, reject) => {
      const asked = request({ agent, hostname, port, method, path, headers }, (answer) => {
        const content_type = answer.headers["content-type"] ?? "";
        const head = { status: answer.statusCode ?? 0, content_type, headers: answer.rawHeaders.join("\n") };
        let text = "";
        const done = (): void => resolve({ ...head, body: text });
        answer.setEncoding("utf8").on("data", (piece: string) => {
          text = (text + piece).slice(0, BODY_LENGTH_MAX);
          if (content_type.startsWith("text/event-stream")) answer.destroy();
        });
        answer.on("close", done).on("error", done);
      });
      asked.setTimeout(HANGS_MS, () => asked.destroy(new Error(`No answer within ${HANGS_MS} ms.`)));
      // A server may answer a body that is too large and hang up before all of it was sent.
      asked.on("error", (error: NodeJS.ErrnoException) => {
        const hung_up = error.code === "ECONNRESET" || error.code === "EPIPE";
        if (hung_up) resolve({ status: 0, content_type: "", headers: "", body: "" });
        else reject(error);
      });
      asked.end(body);
    });
  return { send, close: () => agent.destroy() };
}

/** Sends bytes that need not be HTTP. Answers what came back by the time the server hung up. */
export function sendBytes(origin: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.end(bytes, "latin1"));
    socket.setTimeout(HANGS_MS, () => socket.destroy(new Error("The server neither answered nor hung up.")));
    socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
    socket.on("error", (error: NodeJS.ErrnoException) => (error.code === "ECONNRESET" ? resolve(text) : reject(error)));
    socket.on("close", () => resolve(text));
  });
}
