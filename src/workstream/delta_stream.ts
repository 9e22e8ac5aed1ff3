import type { StreamBuffer } from "../agent/turn_port.ts";

/**
 * Text of the running model call. Pieces that come within one event-loop turn leave as one event when that turn ends:
 * no timer delays the first token, and a burst does not cost a frame a token.
 */
export class DeltaStream {
  readonly #publish: (kind: "content" | "reasoning", text: string) => void;
  #buffer: StreamBuffer | null = null;
  #content = "";
  #reasoning = "";
  #scheduled = false;

  constructor(publish: (kind: "content" | "reasoning", text: string) => void) {
    this.#publish = publish;
  }

  /** What has been said so far, for those who come late; null when no call runs. */
  get current(): StreamBuffer | null {
    return this.#buffer;
  }

  reset(buffer: StreamBuffer | null): void {
    this.flush();
    this.#buffer = buffer;
  }

  add(kind: "content" | "reasoning", text: string): void {
    if (this.#buffer !== null) this.#buffer[kind] += text;
    if (kind === "content") this.#content += text;
    else this.#reasoning += text;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    this.#scheduled = false;
    const reasoning = this.#reasoning;
    const content = this.#content;
    this.#reasoning = "";
    this.#content = "";
    if (reasoning !== "") this.#publish("reasoning", reasoning);
    if (content !== "") this.#publish("content", content);
  }
}
