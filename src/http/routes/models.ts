import { ModelsAnswer } from "../../protocol/answers.ts";
import { PATHS } from "../../protocol/paths.ts";
import type { HttpContext } from "../context.ts";
import { type Route, route } from "../route.ts";

/** Which models there are to choose from. */
export function modelRoutes({ models }: HttpContext): Route[] {
  return [
    route({
      method: "GET",
      path: PATHS.models,
      summary: "The models that a workstream may use",
      scope: "read",
      answer: ModelsAnswer,
      handle: (): ModelsAnswer => ({ models: models() }),
    }),
  ];
}
