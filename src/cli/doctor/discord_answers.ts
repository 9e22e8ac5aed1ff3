/** The parts of Discord's answers that are looked at (Discord's documentation, "Resources"). */
import * as Type from "../../protocol/schema.ts";

const Id = Type.String({ pattern: "^[0-9]{1,20}$" });
const Name = Type.String({ maxLength: 100 });
/** A number with more bits than JSON's. */
const Permissions = Type.String({ pattern: "^[0-9]{1,30}$" });

export const Me = Type.Object({ id: Id, username: Name });

export const Application = Type.Object({ id: Id, flags: Type.Optional(Type.Integer()) });

export const Guilds = Type.Array(Type.Object({ id: Id }));

export const Guild = Type.Object({
  id: Id,
  name: Name,
  owner_id: Id,
  roles: Type.Array(Type.Object({ id: Id, permissions: Permissions })),
});
export type Guild = Type.Static<typeof Guild>;

export const Channel = Type.Object({
  guild_id: Type.Optional(Id),
  name: Name,
  type: Type.Integer(),
  permission_overwrites: Type.Optional(
    Type.Array(Type.Object({ id: Id, type: Type.Integer(), allow: Permissions, deny: Permissions })),
  ),
});
export type Channel = Type.Static<typeof Channel>;

export const Channels = Type.Array(Channel);

export const Member = Type.Object({ roles: Type.Array(Id) });

export const Commands = Type.Array(Type.Unknown());
