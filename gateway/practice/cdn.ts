import type { FastifyInstance } from "fastify";
import { linkIsValid } from "./files.ts";
import type { World } from "./model.ts";

/** Where files and avatars are served. */
export const CDN_PREFIX = "/cdn";

/** Serves attachments through their signed links, and avatars drawn from a person's colour. */
export function serveCdn(app: FastifyInstance, world: World): void {
  app.get<{ Params: Record<string, string>; Querystring: Record<string, string> }>(
    `${CDN_PREFIX}/attachments/:channel_id/:attachment_id/:filename`,
    async (request, reply) => {
      const attachment = world.attachments.get(request.params["attachment_id"] ?? "");
      if (attachment === undefined || !linkIsValid(world, attachment.id, request.query)) {
        return reply.code(404).type("text/plain").send("This content is no longer available.");
      }
      // Only pictures are shown in place; a page or script that somebody uploaded must not run here.
      const isPicture = /^image\/(png|jpeg|gif|webp)$/.test(attachment.content_type);
      return reply
        .headers({
          "content-type": attachment.content_type,
          "content-disposition": isPicture ? "inline" : "attachment",
          "content-security-policy": "sandbox; default-src 'none'",
          "x-content-type-options": "nosniff",
        })
        .send(Buffer.from(attachment.bytes));
    },
  );
  app.get<{ Params: Record<string, string> }>(`${CDN_PREFIX}/avatars/:user_id/:file`, async (request, reply) => {
    const user = world.users.get(request.params["user_id"] ?? "");
    if (user === undefined) return reply.code(404).send();
    return reply
      .type("image/svg+xml")
      .header("cache-control", "max-age=3600")
      .send(avatar(user.global_name, user.color));
  });
}

function avatar(name: string, color: number): string {
  const fill = `#${color.toString(16).padStart(6, "0")}`;
  const letter = (Array.from(name)[0] ?? "?").toUpperCase().replaceAll(/[<>&"]/g, "");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" fill="${fill}"/>
<text x="20" y="27" font-family="sans-serif" font-size="19" font-weight="600" fill="#fff" text-anchor="middle">
${letter}</text></svg>`;
}
