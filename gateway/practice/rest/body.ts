import type { JsonObject, JsonValue } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { failure } from "../failure.ts";
import { typeByName } from "../files.ts";
import type { Upload } from "../files.ts";

export interface Body {
  body: JsonObject;
  list: JsonValue[];
  files: Upload[];
}

/** Reads a JSON or multipart body; throws 50109 for what is neither. */
export async function readBody(bytes: Uint8Array, contentType: string): Promise<Body> {
  if (bytes.length === 0) return { body: {}, list: [], files: [] };
  if (contentType.startsWith("multipart/form-data")) return readMultipart(bytes, contentType);
  return { ...readJson(Buffer.from(bytes).toString()), files: [] };
}

async function readMultipart(bytes: Uint8Array, contentType: string): Promise<Body> {
  const form = await new Response(Buffer.from(bytes), { headers: { "content-type": contentType } })
    .formData()
    .catch(() => null);
  if (form === null) throw failure("bad_json");
  const files: Upload[] = [];
  let json = "{}";
  for (const [name, value] of form) {
    if (typeof value === "string") {
      if (name === "payload_json") json = value;
      continue;
    }
    files.push({
      name,
      filename: value.name,
      content_type:
        value.type === "" || value.type === "application/octet-stream" ? typeByName(value.name) : value.type,
      bytes: new Uint8Array(await value.arrayBuffer()),
    });
  }
  return { ...readJson(json), files };
}

function readJson(text: string): { body: JsonObject; list: JsonValue[] } {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw failure("bad_json");
  }
  return { body: isJsonObject(value) ? value : {}, list: Array.isArray(value) ? value : [] };
}
