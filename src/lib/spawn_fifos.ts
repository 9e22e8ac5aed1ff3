import { execFile, execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One pipe as file descriptors: our end, which does not block, and the program's, which does. */
export interface PipeEnds {
  ours: number;
  theirs: number;
}

/** How many are made by one run of mkfifo, which costs as much as any other program start. */
const BATCH = 32;
/** More are made in the background when this many are left. */
const REFILL_AT = 8;

/**
 * Pipes for what programs read and write. Node's own `pipe` is a socket: `echo > /dev/stderr` fails on it, bash takes
 * it for a remote login and reads its start-up files, and each stream has one of its own, so that the order of stdout
 * and stderr is lost. Node cannot make a pipe, so named ones are made ahead; each loses its name as soon as both ends
 * are open.
 */
export class Fifos {
  #folder: string | null = null;
  #free: string[] = [];
  #made = 0;
  #filling = false;

  /** A pipe that we read from or write to. Throws when none can be made. */
  open(we: "read" | "write"): PipeEnds {
    if (this.#free.length === 0) {
      const batch = this.#names();
      execFileSync("mkfifo", ["-m", "600", ...batch]);
      this.#free.push(...batch);
    }
    const path = this.#free.pop() ?? "";
    this.#refill();
    const opened: number[] = [];
    const openEnd = (flags: number): number => {
      const descriptor = openSync(path, flags);
      opened.push(descriptor);
      return descriptor;
    };
    try {
      const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
      // An end alone waits for the other one to be opened; one that is both lets each be opened at once.
      const both = openEnd(O_RDWR | O_NONBLOCK);
      const theirs = openEnd(we === "read" ? O_WRONLY : O_RDONLY);
      const ours = openEnd((we === "read" ? O_RDONLY : O_WRONLY) | O_NONBLOCK);
      closeSync(both);
      return { ours, theirs };
    } catch (error) {
      for (const descriptor of opened) closeSync(descriptor);
      throw error;
    } finally {
      unlinkSync(path);
    }
  }

  close(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }

  #names(): string[] {
    this.#folder ??= mkdtempSync(join(tmpdir(), "turnstone-pipes-"));
    const folder = this.#folder;
    return Array.from({ length: BATCH }, () => join(folder, String(this.#made++)));
  }

  #refill(): void {
    if (this.#filling || this.#free.length > REFILL_AT) return;
    this.#filling = true;
    const batch = this.#names();
    execFile("mkfifo", ["-m", "600", ...batch], (error) => {
      this.#filling = false;
      if (error === null) this.#free.push(...batch);
    });
  }
}
