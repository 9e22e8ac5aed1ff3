import type { JsonObject } from "../../../src/protocol/json.ts";
import { walkComponents } from "../check/components.ts";
import type { Channel, Message, User, World } from "../model.ts";
import { canView } from "../permissions.ts";

/** A person cannot do that: the words say why, as the client would by not offering it. */
export class NotPossible extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotPossible";
  }
}

/** An id, or the name that people use for it. */
export type Ref = string | { id: string };

export function refId(ref: Ref): string {
  return typeof ref === "string" ? ref : ref.id;
}

/** A channel or thread by id or name (with or without `#`); the newest of that name. */
export function findChannel(world: World, ref: Ref): Channel {
  const key = refId(ref).replace(/^#/, "");
  const channel = world.channels.get(key) ?? [...world.channels.values()].findLast((one) => one.name === key);
  if (channel === undefined) throw new NotPossible(`There is no channel ${key}.`);
  return channel;
}

/** A user by id or name. */
export function findUser(world: World, ref: Ref): User {
  const key = refId(ref).replace(/^@/, "");
  const user =
    world.users.get(key) ?? [...world.users.values()].find((one) => one.global_name === key || one.username === key);
  if (user === undefined) throw new NotPossible(`There is nobody called ${key}.`);
  return user;
}

/** A message by id that this person can see; ephemeral ones of others are not there for them. */
export function findMessage(world: World, ref: Ref, userId: string): Message {
  const id = refId(ref);
  const own = world.ephemeral.get(id);
  if (own?.ephemeral_for === userId) return own;
  for (const history of world.messages.values()) {
    const message = history.get(id);
    const channel = world.channels.get(message?.channel_id ?? "");
    if (message !== undefined && channel !== undefined && canView(world, channel, userId)) return message;
  }
  throw new NotPossible("This message is not there.");
}

/** A channel that this person can see. */
export function visibleChannel(world: World, ref: Ref, userId: string): Channel {
  const channel = findChannel(world, ref);
  if (!canView(world, channel, userId)) throw new NotPossible(`You cannot see ${channel.name}.`);
  return channel;
}

/** The first component for which the test holds. */
export function findComponent(
  components: readonly JsonObject[],
  test: (component: JsonObject) => boolean,
): JsonObject | null {
  let found: JsonObject | null = null;
  walkComponents(components, (component) => {
    if (found === null && test(component)) found = component;
  });
  return found;
}
