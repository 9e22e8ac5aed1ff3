import { tell } from "./common.ts";
import { command } from "./interaction.ts";

const HELP = [
  "Mention me in a channel and I open a thread; there you just write. Or write to me directly.",
  "Before I do something with effects I ask, with buttons. A message while I work joins at the next step.",
  "",
  "`/ask` a question in a thread of its own · `/status` how this conversation stands, and inviting others",
  "`/stop` · `/retry` · `/compact` make room · `/model` · `/close`",
  "`/memory` what I remember of you · `/grants` what I may do unasked · `/mcp` servers and tools",
  "`/file` a file of this conversation’s folder · `/doctor` what I need to work here, for admins",
  "`/link` and `/unlink` your account",
].join("\n");

export const helpCommand = command({ name: "help", description: "What I can do and how" }, (_gateway, press) =>
  tell(press, HELP),
);
