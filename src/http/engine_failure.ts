import type { EngineFailure } from "../contracts/engine.ts";
import { AppError } from "../protocol/error.ts";
import { unknownWorkstream } from "./failures.ts";

/** The engine's answer if it is a success; throws what a client is told otherwise. */
export function requireSuccess<T extends object>(result: T | EngineFailure): T {
  if (!isFailure(result)) return result;
  switch (result.reason) {
    case "unknown":
      throw unknownWorkstream();
    case "closed":
    case "busy":
      throw new AppError(409, "conflict", result.error);
    case "invalid":
      throw new AppError(400, "invalid_request", result.error);
  }
}

function isFailure(result: object): result is EngineFailure {
  return "ok" in result && result.ok === false;
}
