/** The platform's limit for a button's id. */
export const CUSTOM_ID_LENGTH_MAX = 100;

/** What a press means: a verb and what it is about. Ids live in messages for ever, so no verb gets another meaning. */
export interface CustomId {
  verb: string;
  /** An approval cycle, a plan review, or the entry that a button stands under. */
  subject: string;
  /** One call of a cycle; null for all of it. */
  call_id: string | null;
}

/** `verb:subject[:call]`, or null when it would be longer than the platform takes. */
export function encodeCustomId(verb: string, subject: string, call_id: string | null = null): string | null {
  const id = [verb, subject, ...(call_id === null ? [] : [call_id])].map(escapePart).join(":");
  return id.length <= CUSTOM_ID_LENGTH_MAX ? id : null;
}

/** Reads an id back; null for one that is not ours. */
export function decodeCustomId(id: string): CustomId | null {
  const [verb, subject, call_id, ...rest] = id.split(":").map(unescapePart);
  if (verb === undefined || verb === "" || subject === undefined || rest.length > 0) return null;
  return { verb, subject, call_id: call_id ?? null };
}

function escapePart(part: string): string {
  return part.replaceAll("%", "%25").replaceAll(":", "%3A");
}

function unescapePart(part: string): string {
  return part.replaceAll("%3A", ":").replaceAll("%25", "%");
}
