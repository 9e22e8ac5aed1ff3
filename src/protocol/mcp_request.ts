import * as Type from "./schema.ts";
import type { JsonObject } from "./json.ts";

/** One thing that a form of an MCP server asks for. `name` is the server's key, `title` and `description` are for people. */
export type McpField = {
  name: string;
  title: string;
  description: string;
  required: boolean;
} & McpFieldKind;

export type McpFieldKind =
  /** Lengths in characters; null where the server sets no end. */
  | {
      type: "text";
      format: "email" | "uri" | "date" | "date-time" | null;
      length_min: number;
      length_max: number | null;
      default: string | null;
    }
  | { type: "number"; integer: boolean; minimum: number | null; maximum: number | null; default: number | null }
  | { type: "boolean"; default: boolean | null }
  /** `chosen_max` is 1 for a choice of one, whose value is then a text and not a list. */
  | {
      type: "choice";
      choices: McpChoice[];
      multiple: boolean;
      chosen_min: number;
      chosen_max: number;
      default: string[];
    };

export interface McpChoice {
  value: string;
  title: string;
}

/** What an MCP server wants of people while one of its tools runs. */
export type McpRequest =
  /** Elicitation: a form to fill in. */
  | { kind: "form"; message: string; fields: McpField[] }
  /** Elicitation: something to do on a page of its own, which we never see. */
  | { kind: "link"; message: string; url: string }
  /** Sampling: a text that our model is to write for the server. */
  | { kind: "sampling"; system: string; messages: McpSamplingMessage[]; output_tokens_max: number }
  /** The server knows people by accounts of their own, and the owner of this conversation has not signed in to it. */
  | { kind: "sign_in" };

export interface McpSamplingMessage {
  role: "user" | "assistant";
  text: string;
}

/** As MCP names what people may answer to an elicitation. */
export const MCP_ACTIONS = ["accept", "decline", "cancel"] as const;
export type McpAction = (typeof MCP_ACTIONS)[number];

/** Fields of a form that are answered at once: as many as a form of Discord holds. */
export const MCP_PAGE_FIELDS = 5;

/** A text that a form's field may hold. */
export const MCP_TEXT_LENGTH_MAX = 4000;

export const McpRequestBody = Type.Object(
  {
    action: Type.Enum([...MCP_ACTIONS]),
    partial: Type.Optional(
      Type.Boolean({ description: "More values follow: what is given is checked and kept, and nothing is sent yet" }),
    ),
    content: Type.Optional(
      Type.Record(
        Type.String({ maxLength: 200 }),
        Type.Union([
          Type.String({ maxLength: MCP_TEXT_LENGTH_MAX }),
          Type.Number(),
          Type.Boolean(),
          Type.Null(),
          Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 100 }),
        ]),
        {
          maxProperties: 100,
          description: "For a form: values by the names of its fields",
        },
      ),
    ),
  },
  { additionalProperties: false },
);
export type McpRequestBody = Type.Static<typeof McpRequestBody>;

export const McpRequestAnswer = Type.Object({
  status: Type.Enum(["ok", "incomplete"], {
    description: "incomplete: what was given is kept, and nothing was sent yet",
  }),
  request_id: Type.String(),
  missing: Type.Array(Type.String(), { description: "Names of required fields that have no value yet" }),
});
export type McpRequestAnswer = Type.Static<typeof McpRequestAnswer>;

/** A request as it stands, for whoever is about to answer it. */
export interface OpenMcpRequest {
  request_id: string;
  server: string;
  request: McpRequest;
  /** Values that people gave so far. */
  given: JsonObject;
}

export const OpenMcpRequestAnswer = Type.Object({
  request_id: Type.String(),
  server: Type.String(),
  request: Type.Unknown({ description: "As in the event mcp_request" }),
  given: Type.Record(Type.String(), Type.Unknown()),
});
