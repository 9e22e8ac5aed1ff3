import { plainText } from "../render/defuse.ts";
import { textView } from "../render/view.ts";
import { EXTEND_BUDGET } from "../render/words.ts";
import { isAdmin, pressedId, tell, tellRefusal } from "./common.ts";
import { interaction } from "./interaction.ts";

/** Allows a person as much again today. The server counts each extension once, however often it is pressed. */
export const extendBudgetButton = interaction({
  parse: (press) => pressedId(press, "button", [EXTEND_BUDGET]),
  async run(gateway, press, { subject: user_id, call_id }) {
    await press.acknowledge();
    const [day = "", extension = ""] = (call_id ?? "").split(".");
    if (!(await isAdmin(gateway, press.person))) {
      return tell(press, "Only admins may extend a budget. Ask one to press this button.");
    }
    const answer = await gateway.server.extendBudget(press.person, { user_id, day, extension: Number(extension) });
    if (!answer.ok) return tellRefusal(gateway, press, answer);
    const words = `**${plainText(press.person.name)}** allowed ${plainText(answer.value.display_name)} as much again today. Say “continue” to go on.`;
    await press.answer(textView(words), { private: false });
  },
});
