/** One step of the schema. Once released it never changes; what follows is a new one. */
export interface Migration {
  /** From 1, without gaps. */
  version: number;
  name: string;
  sql: string;
}
