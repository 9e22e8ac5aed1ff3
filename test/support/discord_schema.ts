import { Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { existsSync, readFileSync } from "node:fs";
import type { RequestRecord } from "../../gateway/practice/index.ts";

const DESCRIPTION = new URL("../../../shared/data/discord-openapi.json", import.meta.url);

/** Discord's published OpenAPI description as a checker. Answers are lists of errors in words; empty means valid. */
export interface DiscordSchema {
  /** `path` is a concrete one below the version, such as `/channels/1/messages`; a query is ignored. */
  checkRequest(method: string, path: string, body: unknown): string[];
  checkResponse(method: string, path: string, status: number, body: unknown): string[];
  /** Bodies and, where the answer was 2xx, answers of all requests; each error names its request. */
  checkRequests(requests: readonly RequestRecord[]): string[];
}

/** The checker, or null where the description is not on this machine. It compiles each route's schema on first use. */
export function loadDiscordSchema(): DiscordSchema | null {
  if (!existsSync(DESCRIPTION)) return null;
  const description = JSON.parse(readFileSync(DESCRIPTION, "utf8")) as Description;
  const compiled = new Map<string, ValidateFunction>();
  const ajv = createAjv(description);
  const validate = (pointer: string, direction: "request" | "response", value: unknown): string[] => {
    const check = compiled.get(pointer) ?? ajv.compile({ $ref: `discord#${pointer}` });
    compiled.set(pointer, check);
    return check(adapted(value, direction)) ? [] : words(check.errors ?? []);
  };
  const schema: Omit<DiscordSchema, "checkRequests"> = {
    checkRequest(method, path, body) {
      const operation = findOperation(description, method, path);
      if (operation === null) return [`${method} ${path} is not in the description`];
      const content = operation.value.requestBody?.content ?? {};
      if (!("application/json" in content)) return [];
      return validate(`${operation.pointer}/requestBody/content/application~1json/schema`, "request", body);
    },
    checkResponse(method, path, status, body) {
      const operation = findOperation(description, method, path);
      const content = operation?.value.responses?.[String(status)]?.content ?? {};
      if (operation === null || !("application/json" in content)) return [];
      return validate(`${operation.pointer}/responses/${status}/content/application~1json/schema`, "response", body);
    },
  };
  return {
    ...schema,
    checkRequests: (requests) =>
      requests.flatMap(({ method, path, body, status, response }) => {
        if (status < 200 || status > 299) return [];
        const asked = method === "GET" || method === "DELETE" ? [] : schema.checkRequest(method, path, body);
        const answered = response === null ? [] : schema.checkResponse(method, path, status, response);
        return [
          ...asked.map((error) => `${method} ${path} asked ${error}`),
          ...answered.map((error) => `${method} ${path} answered ${error}`),
        ];
      }),
  };
}

interface Operation {
  requestBody?: { content?: Record<string, unknown> };
  responses?: Record<string, { content?: Record<string, unknown> }>;
}

interface Description {
  paths: Record<string, Record<string, Operation>>;
}

function createAjv(description: Description): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false });
  addFormats.default(ajv);
  for (const format of ["snowflake", "nonce", "int32", "int64"]) ajv.addFormat(format, true);
  ajv.addSchema({ $id: "discord", ...description });
  return ajv;
}

/** The operation whose template fits; one with more fixed words wins over one with more parameters. */
function findOperation(
  description: Description,
  method: string,
  path: string,
): { pointer: string; value: Operation } | null {
  const words = (path.split("?")[0] ?? "").split("/").map(decodeURIComponent);
  const fits = Object.keys(description.paths)
    .filter((template) => templateFits(template.split("/"), words))
    .toSorted((a, b) => a.split("{").length - b.split("{").length);
  for (const template of fits) {
    const value = description.paths[template]?.[method.toLowerCase()];
    const escaped = encodeURIComponent(template.replaceAll("~", "~0").replaceAll("/", "~1"));
    if (value !== undefined) return { pointer: `/paths/${escaped}/${method.toLowerCase()}`, value };
  }
  return null;
}

function templateFits(template: readonly string[], words: readonly string[]): boolean {
  return (
    template.length === words.length && template.every((part, index) => part.startsWith("{") || part === words[index])
  );
}

// Two things that Discord does and the description does not know: permission bits as decimal text in a request, and the
// reference of a forward, which has type 1.
function adapted(value: unknown, direction: "request" | "response"): unknown {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (key === "default_member_permissions" && direction === "request" && typeof inner === "string") {
      return Number(inner);
    }
    if (key === "message_reference" && typeof inner === "object" && inner !== null) return { ...inner, type: 0 };
    return inner;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** The errors that lie deepest: a union reports each of its branches, and the deepest came closest. */
function words(errors: readonly ErrorObject[]): string[] {
  const depth = (error: ErrorObject): number => error.instancePath.split("/").length;
  const deepest = Math.max(...errors.map(depth));
  const chosen = errors.filter((error) => depth(error) === deepest).slice(0, 3);
  return chosen.map((error) => `${error.instancePath} ${error.message ?? ""} ${JSON.stringify(error.params)}`);
}
