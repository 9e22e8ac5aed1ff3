import { appendFileSync, readFileSync, rmSync } from "node:fs";

/** The file that orders a death; null in every process but those of the crash tests. */
let orders: string | null = null;
let current = "";
let passings = 0;

/**
 * Lets this process be killed at a named point. The file at `path` may come and go while the process runs; it holds
 * the name of a point and a number, such as `journal.assistant.before 2`, and whatever makes the order unlike the one
 * before. Every point that is passed is added to `<path>.passed`, one name a line. Null, or an empty text, leaves the
 * points without effect.
 */
export function armCrashPoints(path: string | null | undefined): void {
  orders = path === "" || path === undefined ? null : path;
}

/** Whether points may have an effect here: where they may not, nothing needs to be wrapped. */
export function crashPointsArmed(): boolean {
  return orders !== null;
}

/** A place at which a power cut is tried: the process ends here, as by SIGKILL, when that was ordered. */
export function crashPoint(name: string): void {
  if (orders === null) return;
  appendFileSync(`${orders}.passed`, `${name}\n`);
  const order = orderIn(orders);
  if (order !== current) {
    current = order;
    passings = 0;
  }
  const [point = "", passing = ""] = order.split(" ");
  if (point !== name) return;
  passings += 1;
  if (passings !== Number(passing)) return;
  // The order is for one death: the process that comes after reads none.
  rmSync(orders, { force: true });
  process.kill(process.pid, "SIGKILL");
}

function orderIn(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

/** Runs an effect with a point before it and one after it. */
export async function betweenCrashPoints<Value>(name: string, effect: () => Promise<Value>): Promise<Value> {
  crashPoint(`${name}.before`);
  const value = await effect();
  crashPoint(`${name}.after`);
  return value;
}

/**
 * The same object, with a point before and after each call of these methods, named `<name>.<method>.before` and
 * `.after`.
 */
export function withCrashPoints<Target extends object>(
  name: string,
  target: Target,
  methods: readonly (keyof Target & string)[],
): Target {
  if (!crashPointsArmed()) return target;
  const watched: ReadonlySet<string | symbol> = new Set(methods);
  return new Proxy(target, {
    get(object, key) {
      const value: unknown = Reflect.get(object, key);
      if (typeof value !== "function" || typeof key !== "string" || !watched.has(key)) return value;
      return (...args: unknown[]): Promise<unknown> =>
        betweenCrashPoints(`${name}.${key}`, async () => Reflect.apply(value, object, args) as unknown);
    },
  });
}
