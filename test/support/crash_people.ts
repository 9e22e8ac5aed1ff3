import { NotPossible, type Message } from "../../gateway/practice/index.ts";
import { linesOf, type CrashRun } from "./crash_run.ts";
import type { Product } from "./product.ts";

/** How long a person waits for a press to have an effect before pressing again. */
const PRESS_AGAIN_MS = 2500;
/** How long a person waits until a message is seen to be queued. */
const QUEUED_MS = 1500;
const LOOK_MS = 50;

/**
 * Plays the people of a scenario until the signal is aborted: they press what is to be pressed, again where nothing
 * came of it.
 */
export async function play(product: Product, run: CrashRun, signal: AbortSignal): Promise<void> {
  const { scenario, thread } = run;
  const pressed = new Map<string, number>();
  let interjected_at: number | null = null;
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const target = buttonOf(product, thread, scenario.presses);
    if (target === null) continue;
    if (scenario.presses_after !== undefined && linesOf(product, scenario.presses_after(run.key)).length === 0) {
      continue;
    }
    if (scenario.interjection !== undefined && interjected_at === null) {
      const words = scenario.interjection(run.key);
      // Whoever plays on after a death has said it before it.
      if (!threadText(product, thread).includes(words)) product.practice.as(scenario.speaker).say(thread, words);
      interjected_at = performance.now();
    }
    const queued = interjected_at === null || threadText(product, thread).includes("Queued:");
    if (!queued && performance.now() - (interjected_at ?? 0) < QUEUED_MS) continue;
    const name = `${target.message.id} ${target.label}`;
    if (performance.now() - (pressed.get(name) ?? -Infinity) < PRESS_AGAIN_MS) continue;
    pressed.set(name, performance.now());
    await press(product, run, target);
  }
}

async function press(product: Product, run: CrashRun, target: { message: Message; label: string }): Promise<void> {
  try {
    await product.practice.as(run.scenario.speaker).press(target.message, target.label);
  } catch (error) {
    // The card changed under the finger.
    if (!(error instanceof NotPossible)) throw error;
  }
}

function threadText(product: Product, thread: string): string {
  return messagesOf(product, thread)
    .map((message) => product.practice.messageAsText(message))
    .join("\n");
}

/** A thread's messages; none before it is opened. */
export function messagesOf(product: Product, thread: string): Message[] {
  try {
    return product.practice.messages(thread);
  } catch (error) {
    if (error instanceof NotPossible) return [];
    throw error;
  }
}

function buttonOf(
  product: Product,
  thread: string,
  labels: readonly string[],
): { message: Message; label: string } | null {
  for (const message of messagesOf(product, thread)) {
    const text = product.practice.messageAsText(message);
    const label = labels.find((one) => text.includes(`[${one}]`) && !text.includes(`[${one}] (off)`));
    if (label !== undefined) return { message, label };
  }
  return null;
}
