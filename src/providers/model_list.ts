import { isJsonObject } from "../protocol/json.ts";

/** What servers answer that have no such route, which says nothing against their models. */
const LISTS_NOTHING: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * Names of a server's models in its own order, from the form in which all vendors list them: `{data: [{id}]}`. Null
 * when it does not answer or answers something else; none when it is there but lists nothing. A plain request: servers
 * are asked at every start, and a vendor's client costs memory that an idle server need not spend. Redirects are not
 * followed, since a key goes with the request.
 */
export async function fetchModelList(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<string[] | null> {
  try {
    const answer = await fetch(url, { headers: { accept: "application/json", ...headers }, redirect: "error", signal });
    if (!answer.ok) {
      await answer.body?.cancel();
      return LISTS_NOTHING.has(answer.status) ? [] : null;
    }
    const body: unknown = await answer.json();
    if (!isJsonObject(body) || !Array.isArray(body["data"])) return null;
    const names = body["data"].map((model) => (isJsonObject(model) ? model["id"] : undefined));
    return names.every((name) => typeof name === "string") ? names : null;
  } catch {
    return null; // Whatever is wrong, there is nothing to choose from; the first call says why.
  }
}
