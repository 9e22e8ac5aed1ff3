import type { JsonObject } from "../../src/protocol/json.ts";
import { isJsonObject } from "../../src/protocol/json.ts";
import { attachmentUrl } from "./files.ts";
import { textOf } from "./json.ts";
import type { Message, World } from "./model.ts";

/** An item of a gallery is the one part that has no type of its own. */
const GALLERY_ITEM = 0;

/** What Discord fills in where the bot said nothing, by component type. */
const COMPONENT_DEFAULTS: Readonly<Record<number, JsonObject>> = {
  [GALLERY_ITEM]: { description: null, spoiler: false },
  3: { min_values: 1, max_values: 1 },
  5: { min_values: 1, max_values: 1 },
  6: { min_values: 1, max_values: 1 },
  7: { min_values: 1, max_values: 1 },
  8: { min_values: 1, max_values: 1 },
  11: { description: null, spoiler: false },
  13: { spoiler: false },
  14: { divider: true, spacing: 1 },
  17: { accent_color: null, spoiler: false },
};

/** A component with what Discord adds: defaults, and links in the place of `attachment://` names. */
export function componentPayload(world: World, message: Message, component: JsonObject): JsonObject {
  const made: JsonObject = { ...COMPONENT_DEFAULTS[Number(component["type"] ?? GALLERY_ITEM)], ...component };
  for (const key of ["components", "items"]) {
    const children = component[key];
    if (Array.isArray(children)) {
      made[key] = children.map((child) => componentPayload(world, message, child as JsonObject));
    }
  }
  const accessory = component["accessory"];
  if (typeof accessory === "object" && accessory !== null) {
    made["accessory"] = componentPayload(world, message, accessory as JsonObject);
  }
  for (const key of ["media", "file"]) if (isJsonObject(component[key])) resolveMedia(world, message, made, key);
  return made;
}

function resolveMedia(world: World, message: Message, made: JsonObject, key: string): void {
  const url = textOf((made[key] as JsonObject)["url"]);
  const attachment = message.attachments.find((one) => `attachment://${one.filename}` === url);
  if (attachment === undefined) {
    made[key] = { id: message.id, url, proxy_url: url, width: null, height: null };
    return;
  }
  const link = attachmentUrl(world, message.channel_id, attachment);
  made[key] = {
    id: attachment.id,
    url: link,
    proxy_url: link,
    width: attachment.width,
    height: attachment.height,
    content_type: attachment.content_type,
    attachment_id: attachment.id,
  };
  if (key === "file") Object.assign(made, { name: attachment.filename, size: attachment.bytes.length });
}
