import type { CommandDefinition, Press, SuggestRequest } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";

/** Something that a person can press, fill in or command. */
export interface Interaction {
  /** Runs it if it is this one's; null if it is not. */
  take(gateway: Gateway, press: Press): Promise<void> | null;
  /** Of commands: how people find it. */
  definition?: CommandDefinition;
  /** Suggestions for an option of this command. */
  suggest?(gateway: Gateway, request: SuggestRequest): Promise<{ name: string; value: string }[]>;
}

/**
 * Makes an interaction of its two halves: `parse` says whether a press is this one's and what it is about, `run`
 * does it.
 * `run` must acknowledge before it asks the server anything: the platform waits three seconds.
 */
export function interaction<Key>(parts: {
  parse(press: Press): Key | null;
  run(gateway: Gateway, press: Press, key: Key): Promise<void>;
  definition?: CommandDefinition;
  suggest?: Interaction["suggest"];
}): Interaction {
  return {
    take(gateway, press) {
      const key = parts.parse(press);
      return key === null ? null : parts.run(gateway, press, key);
    },
    ...(parts.definition === undefined ? {} : { definition: parts.definition }),
    ...(parts.suggest === undefined ? {} : { suggest: parts.suggest }),
  };
}

/** A slash command without subcommands. */
export function command(
  definition: Omit<CommandDefinition, "kind">,
  run: (gateway: Gateway, press: Press) => Promise<void>,
): Interaction {
  return interaction<true>({
    parse: (press) => (press.kind === "command" && press.id === definition.name ? true : null),
    run: (gateway, press) => run(gateway, press),
    definition: { kind: "chat", ...definition },
  });
}
