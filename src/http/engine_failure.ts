import type { EngineFailure } from "../contracts/engine.ts";
import type { AppError } from "../protocol/error.ts";
import { conflict, invalid, unknownWorkstream } from "./failures.ts";

/** The engine's answer if it is a success; throws what a client is told otherwise. */
export function requireSuccess<T extends object>(result: T | EngineFailure): T {
  if (!isFailure(result)) return result;
  throw failureOf(result);
}

function failureOf({ reason, error }: EngineFailure): AppError {
  if (reason === "unknown") return unknownWorkstream();
  return reason === "invalid" ? invalid(error) : conflict(error);
}

function isFailure(result: object): result is EngineFailure {
  return "ok" in result && result.ok === false;
}
