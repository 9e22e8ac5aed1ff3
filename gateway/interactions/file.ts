import { sizeText } from "../render/figures.ts";
import { inlineCode } from "../render/defuse.ts";
import { inWorkstream, tell } from "./common.ts";
import { command } from "./interaction.ts";

/** What Discord takes from bots in a server without boosts. */
const FILE_BYTES_MAX = 10 * 1024 * 1024;

/** A file of the conversation's folder, shown to the person who asks alone. */
export const fileCommand = command(
  {
    name: "file",
    description: "Get a file from this conversation's folder",
    options: [{ name: "path", description: "Its path, such as report.pdf", required: true, type: "text" }],
  },
  async (gateway, press) => {
    await press.defer({ private: true });
    const path = press.values.get("path") ?? "";
    const file = await inWorkstream(gateway, press, (ws_id) => gateway.server.file(press.person, ws_id, path));
    if (file === null) return;
    const { length } = file.bytes;
    const about = `${inlineCode(path, 200)} has ${sizeText(length)}`;
    if (length === 0) return tell(press, `${about}: it is empty.`);
    if (length > FILE_BYTES_MAX) {
      return tell(
        press,
        `${about}, and Discord takes at most ${sizeText(FILE_BYTES_MAX)}. Ask me to pack or split it.`,
      );
    }
    await press.answer({ kind: "text", text: inlineCode(path, 200), files: [file] }, { private: true });
  },
);
