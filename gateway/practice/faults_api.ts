import { publishMessage } from "./events.ts";
import type { RouteFault, RouteFaults, RouteMatch } from "./faults.ts";
import type { Gateway } from "./live/gateway.ts";
import type { World } from "./model.ts";
import { findUser } from "./people/find.ts";
import type { Ref } from "./people/find.ts";

/** Everything that can go wrong between Discord and a bot, at will. */
export interface Faults {
  /** Cuts the gateway connections without a word; a resume works. */
  dropConnections(): void;
  /** Closes the gateway connections with a code, such as 4000 or 4004. */
  closeConnections(code: number): void;
  /** Opcode 7: the bot is to reconnect and resume. */
  askToReconnect(): void;
  /** Opcode 9: true lets the bot resume, false ends its session. */
  invalidateSession(resumable: boolean): void;
  /** Forgets sessions, so that the next resume is refused. */
  forgetSessions(): void;
  /** Withholds heartbeat acknowledgements while on. */
  zombie(on: boolean): void;
  /** Refuses new gateway connections while on. */
  gatewayDown(on: boolean): void;
  /** Intents (as bits) that are switched off for the bot: identifying with one closes with 4014. */
  disallowIntents(bits: number): void;
  /** Strikes requests of the bot; returns the function that ends it. */
  onRequest(match: RouteMatch, fault: RouteFault): () => void;
  /** Delivers the event of a message once more, as a resume sometimes does. */
  redeliver(message: Ref): void;
  /** Ends an interaction's token as if its 15 minutes were over. */
  expireInteraction(interaction_id: string): void;
  /** Whether a person takes direct messages from the bot. */
  closeDms(person: Ref, closed: boolean): void;
  /** Ends all faults that last. */
  clear(): void;
}

export function createFaults(world: World, gateway: Gateway, routes: RouteFaults): Faults {
  return {
    dropConnections: () => gateway.drop(),
    closeConnections: (code) => gateway.closeWith(code),
    askToReconnect: () => gateway.askToReconnect(),
    invalidateSession: (resumable) => gateway.invalidate(resumable),
    forgetSessions: () => gateway.forgetSessions(),
    zombie(on) {
      gateway.zombie = on;
    },
    gatewayDown(on) {
      gateway.down = on;
    },
    disallowIntents(bits) {
      gateway.disallowed_intents = bits;
    },
    onRequest: (match, fault) => routes.add(match, fault),
    redeliver(ref) {
      const id = typeof ref === "string" ? ref : ref.id;
      for (const history of world.messages.values()) {
        const message = history.get(id);
        if (message !== undefined) publishMessage(world, "MESSAGE_CREATE", message);
      }
    },
    expireInteraction(id) {
      const interaction = world.interactions.get(id);
      if (interaction === undefined) throw new Error(`There is no interaction ${id}.`);
      interaction.expired = true;
    },
    closeDms(person, closed) {
      findUser(world, person).dms_closed = closed;
    },
    clear() {
      routes.clear();
      gateway.zombie = false;
      gateway.down = false;
      gateway.disallowed_intents = 0;
    },
  };
}
