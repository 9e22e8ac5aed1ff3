import { timestamp, utcDay } from "../../lib/clock.ts";
import { ExtendBudgetAnswer, ExtendBudgetBody } from "../../protocol/admin.ts";
import { PATHS } from "../../protocol/paths.ts";
import { audit, type HttpContext, personOf } from "../context.ts";
import { conflict, forbidden, notFound } from "../failures.ts";
import { type Route, route } from "../route.ts";

/** What people may use in a day, beyond what the settings say. */
export function budgetRoutes(context: HttpContext): Route[] {
  const { store, clock } = context;
  return [
    route({
      method: "POST",
      path: PATHS.admin_budgets,
      summary: "Allows a person as much again today as the budget of a day",
      scope: "approve",
      body: ExtendBudgetBody,
      answer: ExtendBudgetAnswer,
      async handle({ principal, body }) {
        const { user_id, day, extension } = body;
        if (principal.role !== null && principal.role !== "admin") {
          throw forbidden("Only somebody with the admin role may extend a budget.");
        }
        const user = await store.users.get(user_id);
        if (user === null) throw notFound("There is no such person.");
        const at = timestamp(clock);
        if (day !== utcDay(clock)) {
          throw conflict("That day is over, or has not begun; a budget starts anew each day.");
        }
        const granted_by = personOf(principal).user_id;
        if (!(await store.budgets.extend({ user_id, day, extension, granted_by, at }))) {
          throw conflict("This budget was extended already.");
        }
        await audit(context, granted_by, "budget.extended", user_id, { day, extension });
        return { status: "ok", user_id, display_name: user.display_name };
      },
    }),
  ];
}
