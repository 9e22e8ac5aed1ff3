import type { ModelTool } from "../protocol/tool_definition.ts";
import type { WorkstreamKind } from "../protocol/workstream.ts";

/** What a request for a model depends on. */
export interface OfferRequest {
  kind: WorkstreamKind;
  /** Names that were found in this workstream. The same set for its life; it only grows. */
  expanded: ReadonlySet<string>;
  /** The model's provider searches deferred tools itself. */
  native_search: boolean;
}

/** What a model is told. Both are the same arrays until something in them changes. */
export interface Offer {
  tools: readonly ModelTool[];
  /** Those that the model's provider searches. */
  deferred: readonly ModelTool[];
}

interface Kept {
  version: number;
  expanded_count: number;
  offer: Offer;
}

/** Offers by what they depend on, so that the same one comes as the same arrays, which providers know again. */
export class OfferCache {
  readonly #of_set = new WeakMap<ReadonlySet<string>, Map<string, Kept>>();
  readonly #of_none = new Map<string, Kept>();

  /**
   * The kept offer while `version` and the set are as they were; else a new one that keeps arrays that did not
   * change.
   */
  get({ kind, expanded, native_search }: OfferRequest, version: number, make: () => Offer): Offer {
    const by_key = expanded.size === 0 ? this.#of_none : (this.#of_set.get(expanded) ?? new Map<string, Kept>());
    if (expanded.size > 0) this.#of_set.set(expanded, by_key);
    const key = `${kind} ${native_search}`;
    const known = by_key.get(key);
    if (known?.version === version && known.expanded_count === expanded.size) return known.offer;
    const made = make();
    const offer =
      known === undefined
        ? made
        : { tools: same(known.offer.tools, made.tools), deferred: same(known.offer.deferred, made.deferred) };
    by_key.set(key, { version, expanded_count: expanded.size, offer });
    return offer;
  }
}

function same(before: readonly ModelTool[], now: readonly ModelTool[]): readonly ModelTool[] {
  return before.length === now.length && before.every((tool, index) => tool === now[index]) ? before : now;
}
