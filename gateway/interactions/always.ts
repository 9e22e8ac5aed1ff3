import type { ApprovalItem, GrantScope } from "../../src/protocol/approval.ts";
import { askedItems } from "../render/approval.ts";
import { encodeCustomId } from "../render/custom_id.ts";
import { clip } from "../render/defuse.ts";
import { textView, type Choice } from "../render/view.ts";
import { decide } from "./approve.ts";
import { pressedId, tell, tellRefusal, workstreamOfPress } from "./common.ts";
import { interaction } from "./interaction.ts";

const HOUR_S = 3600;
/** Of a choice on the platform. */
const VALUE_LENGTH_MAX = 100;

/** "Always…" asks how far. */
export const alwaysButton = interaction({
  parse: (press) => pressedId(press, "button", ["always"]),
  async run(gateway, press, { subject }) {
    await press.defer({ private: true });
    const items = askedItems(gateway.pending.items(subject));
    const ws_id = await workstreamOfPress(gateway, press);
    if (!ws_id.ok) return tellRefusal(gateway, press, ws_id);
    // The menu stands in a message that nobody remembers, so its id says which workstream is meant.
    const menu = {
      id: encodeCustomId("grant", subject, ws_id.value) ?? "grant",
      placeholder: "Approve, and from now on…",
      choices: grantChoices(items),
    };
    const text = "How far should your yes reach? It can be taken back with `/grants`.";
    await press.answer(
      {
        kind: "card",
        colour: "orange",
        blocks: [
          { kind: "text", text },
          { kind: "menu", menu },
        ],
        files: [],
      },
      { private: true },
    );
  },
});

/** The choice approves and grants. */
export const grantMenu = interaction({
  parse: (press) => pressedId(press, "menu", ["grant"]),
  async run(gateway, press, { subject, call_id: ws_id }) {
    await press.acknowledge();
    const scope = scopeOf(press.chosen[0] ?? "");
    if (scope === null) return tell(press, "I do not know this choice.");
    if (await decide(gateway, press, subject, { approved: true, always: true, scope }, ws_id)) {
      await press.answer(textView("Approved, and remembered."), { private: true });
    }
  },
});

/** What can be granted: this exact call, commands that begin alike, the tool; here, everywhere, for an hour. */
export function grantChoices(items: readonly ApprovalItem[]): Choice[] {
  const labels = [...new Set(items.map((item) => item.approval_label))];
  const tool = labels.length === 1 ? (labels[0] ?? "this tool") : "these tools";
  const only = items.length === 1 ? items[0] : undefined;
  const prefix = only === undefined ? null : commandPrefix(only);
  const kinds: { match: GrantScope["match"]; words: string }[] = [
    { match: "exact", words: items.length > 1 ? "exactly these calls" : "exactly this call" },
    ...(prefix === null ? [] : [{ match: "prefix" as const, words: `commands starting with ${prefix}` }]),
    { match: "tool", words: tool },
  ];
  return kinds.flatMap(({ match, words }) =>
    REACHES.flatMap(({ reach, label }) => {
      const value = [match, reach, ...(match === "prefix" && prefix !== null ? [prefix] : [])].join("|");
      return value.length > VALUE_LENGTH_MAX ? [] : [{ value, label: clip(`${words}, ${label}`, 100) }];
    }),
  );
}

const REACHES = [
  { reach: "workstream", label: "in this conversation" },
  { reach: "user", label: "in all my conversations" },
  { reach: "hour", label: "in this conversation for one hour" },
] as const;

/** Reads a choice back; null for what is none of ours. */
export function scopeOf(value: string): GrantScope | null {
  const [match = "", reach = "", ...rest] = value.split("|");
  if (match !== "exact" && match !== "prefix" && match !== "tool") return null;
  const prefix = match === "prefix" ? { prefix: rest.join("|") } : {};
  if (reach === "user") return { match, ...prefix, for: "user" };
  if (reach === "workstream") return { match, ...prefix, for: "workstream" };
  return reach === "hour" ? { match, ...prefix, for: "workstream", expires_in_s: HOUR_S } : null;
}

/**
 * The program and its first word, such as `git status`; null where several commands stand together or it is no
 * command at all.
 */
export function commandPrefix(item: ApprovalItem): string | null {
  if (item.func_name !== "bash") return null;
  const command = item.preview.trim();
  if (/[\n;&|<>`$(){}\\"']/.test(command)) return null;
  const words = command.split(/\s+/);
  const second = words[1];
  return second !== undefined && /^[a-z][\w-]*$/.test(second) ? `${words[0]} ${second}` : (words[0] ?? null);
}
