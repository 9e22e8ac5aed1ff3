import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { below, checkInteger, checkObjects, checkText, checkUrl, refuse } from "./values.ts";
import type { Place } from "./values.ts";

/** UTF-16 units over the texts of all embeds together. */
const EMBEDS_TEXT_MAX = 6000;
const LINKS = ["http", "https"];
const PICTURES = ["http", "https", "attachment"];

/** Checks the embeds of a message. */
export function checkEmbeds(place: Place, value: JsonValue | undefined): void {
  let total = 0;
  for (const { item, place: at } of checkObjects(place, value, { max: 10 })) total += checkEmbed(at, item);
  if (total > EMBEDS_TEXT_MAX) {
    refuse(place, "MAX_EMBED_SIZE_EXCEEDED", `Embed size exceeds maximum size of ${EMBEDS_TEXT_MAX}`);
  }
}

/** The length of an embed's texts. */
function checkEmbed(place: Place, embed: JsonObject): number {
  const texts = [
    checkText(below(place, "title"), embed["title"], { max: 256 }),
    checkText(below(place, "description"), embed["description"], { max: 4096 }),
    checkPart(below(place, "footer"), embed["footer"], "text", 2048),
    checkPart(below(place, "author"), embed["author"], "name", 256),
  ];
  checkUrl(below(place, "url"), embed["url"], LINKS, false);
  checkInteger(below(place, "color"), embed["color"], { min: 0, max: 0xffffff });
  for (const { item, place: at } of checkObjects(below(place, "fields"), embed["fields"], { max: 25 })) {
    texts.push(checkText(below(at, "name"), item["name"], { min: 1, max: 256, required: true }));
    texts.push(checkText(below(at, "value"), item["value"], { min: 1, max: 1024, required: true }));
  }
  const pictures = ["image", "thumbnail"].filter((key) => isJsonObject(embed[key]));
  for (const key of pictures) {
    checkUrl(below(place, key, "url"), (embed[key] as JsonObject)["url"], PICTURES, true);
  }
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  if (length === 0 && pictures.length === 0) refuse(place, "BASE_TYPE_REQUIRED", "An embed cannot be empty");
  return length;
}

function checkPart(place: Place, part: JsonValue | undefined, key: string, max: number): string | null {
  if (part === undefined || part === null) return null;
  if (isJsonObject(part)) return checkText(below(place, key), part[key], { min: 1, max, required: true });
  refuse(place, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType.");
  return null;
}
