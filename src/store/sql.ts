import type Database from "better-sqlite3";
import { DamagedStoreError, explainFailure, unreadableRow } from "./errors.ts";

/** What a column takes. Booleans are kept as 0 and 1. */
export type SqlValue = string | number | boolean | null | Uint8Array;

/** Values by the name they have in the statement: `@ws_id` takes `ws_id`. More than the statement names is allowed. */
export type SqlRecord = Readonly<Record<string, SqlValue>>;

/** One connection with its statements prepared once. */
export interface Sql {
  readonly connection: Database.Database;
  /** Answers how many rows changed. */
  run(text: string, values?: SqlRecord): number;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what it asks for
  get<Row>(text: string, values?: SqlRecord): Row | undefined;
  all<Row>(text: string, values?: SqlRecord): Row[];
  /** One row after the other, without holding all; nothing else may run on the connection until it has ended. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as above
  iterate<Row>(text: string, values?: SqlRecord): IterableIterator<Row>;
  /** Answers what `read` makes of rows; whatever it throws means that they do not hold what was written. */
  understand<Value>(read: () => Value): Value;
  /** True once something that was kept could not be read. */
  isDamaged(): boolean;
}

/** Statements are program text, never built from data, so their number is small and the cache needs no limit. */
export function createSql(connection: Database.Database): Sql {
  const statements = new Map<string, Database.Statement>();
  const prepared = (text: string): Database.Statement => {
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = connection.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
  let damaged = false;
  /** A failure that a person can mend comes in words for people. */
  const explained = <Value>(work: () => Value): Value => {
    try {
      return work();
    } catch (error) {
      const failure = explainFailure(error);
      if (failure instanceof DamagedStoreError) damaged = true;
      throw failure;
    }
  };
  return {
    connection,
    run: (text, values = {}) => explained(() => prepared(text).run(bindable(values)).changes),
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as above
    get: <Row>(text: string, values: SqlRecord = {}) =>
      explained(() => prepared(text).get(bindable(values)) as Row | undefined),
    all: <Row>(text: string, values: SqlRecord = {}) => explained(() => prepared(text).all(bindable(values)) as Row[]),
    understand: (read) =>
      explained(() => {
        try {
          return read();
        } catch (error) {
          throw unreadableRow(error);
        }
      }),
    isDamaged: () => damaged,
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as above
    iterate: <Row>(text: string, values: SqlRecord = {}) =>
      prepared(text).iterate(bindable(values)) as IterableIterator<Row>,
  };
}

/** An `insert` that takes each column's value by the column's own name. */
export function insertSql(table: string, columns: readonly string[]): string {
  return `insert into ${table} (${columns.join(", ")}) values (${columns.map((column) => `@${column}`).join(", ")})`;
}

/**
 * Text as every database can hold it: without NUL, which PostgreSQL refuses, and without half surrogate pairs, which
 * UTF-8 cannot spell. JSON text is not touched by it, since JSON escapes both.
 */
export function cleanText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "") : whole;
}

/** A limit that came from a model or a client, as a whole number from 1 to `max`. */
export function clampLimit(limit: number, max: number): number {
  return Math.min(max, Math.max(1, Math.trunc(limit) || 1));
}

function bindable(values: SqlRecord): Record<string, string | number | null | Uint8Array> {
  const bound: Record<string, string | number | null | Uint8Array> = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string") bound[name] = cleanText(value);
    else if (typeof value === "boolean") bound[name] = value ? 1 : 0;
    else bound[name] = value;
  }
  return bound;
}
