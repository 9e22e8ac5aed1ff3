import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** Why nothing can listen there, as a sentence; null when something can. */
export async function portProblem(what: string, host: string, port: number, setting: string): Promise<string | null> {
  const tried = await tryListening(host, port);
  if (tried.ok) return null;
  const why = LISTEN_ERRORS[tried.code] ?? `the system says ${tried.code}`;
  return `The ${what} cannot listen on ${host} port ${port}: ${why}. Choose another with ${setting}.`;
}

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses that port",
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "this user may not use that port",
  ENOTFOUND: "no machine has that name",
};

/** A port that is free now. */
export async function freePort(host: string): Promise<number> {
  const tried = await tryListening(host, 0);
  if (!tried.ok) throw new Error(`No port is free on ${host}: ${tried.code}`);
  return tried.port;
}

function tryListening(host: string, port: number): Promise<{ ok: true; port: number } | { ok: false; code: string }> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve({ ok: false, code: error.code ?? error.message }));
    server.listen({ host, port, exclusive: true }, () => {
      const taken = (server.address() as AddressInfo).port;
      server.close(() => resolve({ ok: true, port: taken }));
    });
  });
}
