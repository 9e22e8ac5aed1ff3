import { randomBytes } from "node:crypto";
import type { WebSocket } from "ws";
import type { JsonObject } from "../../../src/protocol/json.ts";

/** Opcodes of the gateway. */
export const OPCODE = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  presence: 3,
  voice: 4,
  resume: 6,
  reconnect: 7,
  request_members: 8,
  invalid_session: 9,
  hello: 10,
  heartbeat_ack: 11,
} as const;

/** Events that a session keeps for a resume. */
const REPLAY_MAX = 1000;

/** What an identify made: it outlives its socket until somebody ends it. */
export interface Session {
  readonly id: string;
  readonly intents: number;
  /** The socket that it speaks through now; null while the bot is away. */
  socket: WebSocket | null;
  seq: number;
  kept: { seq: number; text: string }[];
}

export function createSession(intents: number, socket: WebSocket): Session {
  return { id: randomBytes(16).toString("hex"), intents, socket, seq: 0, kept: [] };
}

/** Numbers an event, keeps it for a resume and sends it when somebody is there. */
export function dispatch(session: Session, name: string, data: JsonObject): void {
  session.seq += 1;
  const text = JSON.stringify({ op: OPCODE.dispatch, s: session.seq, t: name, d: data });
  session.kept.push({ seq: session.seq, text });
  if (session.kept.length > REPLAY_MAX) session.kept.shift();
  if (session.socket !== null) session.socket.send(text);
}

/** Whether everything after `seq` is still kept. */
export function canResume(session: Session, seq: number): boolean {
  if (seq > session.seq) return false;
  const oldest = session.kept[0]?.seq ?? session.seq + 1;
  return seq >= oldest - 1;
}

/** Sends what came after `seq`. */
export function replay(session: Session, seq: number): void {
  for (const event of session.kept) if (event.seq > seq) session.socket?.send(event.text);
}

export function send(socket: WebSocket, op: number, d: unknown): void {
  socket.send(JSON.stringify({ op, d, s: null, t: null }));
}
