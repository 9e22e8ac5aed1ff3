import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A wire between two programs that can be cut. */
export interface Wire {
  /** Where it begins, on this machine. */
  port: number;
  /** `refused`: connections break and new ones are refused. `silent`: all stay open and nothing gets through. */
  cut(how: "refused" | "silent"): void;
  /** Lets everything through again, also what was held back. */
  heal(): void;
  close(): Promise<void>;
}

/** Carries each connection on to another port of this machine. */
export async function startWire(target_port: number): Promise<Wire> {
  let state: "whole" | "refused" | "silent" = "whole";
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    if (state === "silent") socket.pause();
    socket.on("data", (bytes) => other.write(bytes));
    socket.on("error", () => other.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server = createServer((near) => {
    if (state === "refused") {
      near.destroy();
      return;
    }
    const far = connect(target_port, "127.0.0.1");
    keep(near, far);
    keep(far, near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut(how) {
      state = how;
      for (const socket of sockets) {
        if (how === "refused") socket.destroy();
        else socket.pause();
      }
    },
    heal() {
      state = "whole";
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
