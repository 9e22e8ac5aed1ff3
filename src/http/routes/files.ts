import { basename } from "node:path";
import { readWholeFile } from "../../lib/open_file.ts";
import { FileQuery } from "../../protocol/answers.ts";
import { AppError } from "../../protocol/error.ts";
import { PATHS } from "../../protocol/paths.ts";
import { accessWorkstream } from "../access.ts";
import type { HttpContext } from "../context.ts";
import { invalid, notFound } from "../failures.ts";
import { type Route, route } from "../route.ts";

/** Bytes of one file: more than chat platforms take, little enough to hold a few at once. */
const FILE_BYTES_MAX = 25 * 1024 * 1024;

/** What lies in a workstream's folder. Nothing outside is handed out, whatever a tool may read when people approve. */
export function fileRoutes({ store, withoutOwnSecrets, workspaceOf }: HttpContext): Route[] {
  return [
    route({
      method: "GET",
      path: PATHS.workspace_file,
      summary: "The bytes of a file in the workstream's folder",
      // Who may speak may have the agent read the file out; who only watches may not.
      scope: "write",
      query: FileQuery,
      answer: null,
      media_type: "application/octet-stream",
      async handle({ principal, params, query, request, reply }) {
        const row = await accessWorkstream(store, principal, params["ws_id"], "speak");
        const root = row.parent_ws_id === null ? row : ((await store.workstreams.get(row.parent_ws_id)) ?? row);
        const resolution = (await workspaceOf(root)).resolve(query.path);
        if (!resolution.ok) throw invalid(resolution.error, { field: "path" });
        const { real_path, shown, inside } = resolution.path;
        if (!inside) throw invalid(`${shown} lies outside of the workstream's folder.`, { field: "path" });
        const file = await readWholeFile(real_path, shown, FILE_BYTES_MAX, request.signal);
        if (file.status === "missing") throw notFound(file.error);
        if (file.status === "too_large") {
          throw new AppError(413, "too_large", `${shown} is larger than ${FILE_BYTES_MAX / 1024 / 1024} MiB.`);
        }
        if (file.status === "failed") throw invalid(file.error, { field: "path" });
        const text = file.bytes.toString("utf8");
        if (withoutOwnSecrets(text) !== text) {
          throw invalid(`${shown} holds a secret of the server, so it is not handed out.`, { field: "path" });
        }
        reply.header("content-type", "application/octet-stream");
        reply.header(
          "content-disposition",
          `attachment; filename*=UTF-8''${encodeURIComponent(basename(shown).toWellFormed())}`,
        );
        return file.bytes;
      },
    }),
  ];
}
