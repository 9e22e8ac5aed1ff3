import { isAllowed } from "../allowed.ts";
import type { ChannelPerson, CommandDefinition, Press, SuggestRequest } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { alwaysButton, grantMenu } from "./always.ts";
import { approveButtons } from "./approve.ts";
import { askAboutCommand, askAboutForm, askCommand } from "./ask.ts";
import { extendBudgetButton } from "./budget.ts";
import { tell } from "./common.ts";
import { denyReasonButton, denyReasonForm } from "./deny_reason.ts";
import { doctorCommand } from "./doctor.ts";
import { fileCommand } from "./file.ts";
import { grantsCommand } from "./grants.ts";
import { helpCommand } from "./help.ts";
import type { Interaction } from "./interaction.ts";
import { linkButton, linkCommand, linkForm, unlinkCommand } from "./link.ts";
import { mcpButtons, mcpConnectButton, mcpFillButton, mcpFilledForm, mcpLinkButton } from "./mcp_request.ts";
import { memoryCommand } from "./memory.ts";
import { planButtons, planChangesButton, planChangesForm } from "./plan.ts";
import { retryButton, retryCommand } from "./retry.ts";
import { compactCommand, mcpAccountCommand, mcpCommand, modelCommand } from "./session.ts";
import { closeCommand, inviteButton, inviteForm, statusCommand, tellWhenDoneButton } from "./status.ts";
import { stopButton, stopCommand } from "./stop.ts";

/** Everything that people can press, fill in or command. */
const INTERACTIONS: readonly Interaction[] = [
  approveButtons,
  denyReasonButton,
  denyReasonForm,
  alwaysButton,
  grantMenu,
  planButtons,
  planChangesButton,
  planChangesForm,
  mcpButtons,
  mcpLinkButton,
  mcpConnectButton,
  mcpFillButton,
  mcpFilledForm,
  stopButton,
  stopCommand,
  retryButton,
  retryCommand,
  extendBudgetButton,
  linkCommand,
  linkButton,
  linkForm,
  unlinkCommand,
  askCommand,
  askAboutCommand,
  askAboutForm,
  statusCommand,
  tellWhenDoneButton,
  inviteButton,
  inviteForm,
  closeCommand,
  compactCommand,
  modelCommand,
  mcpCommand,
  mcpAccountCommand,
  memoryCommand,
  grantsCommand,
  fileCommand,
  doctorCommand,
  helpCommand,
];

/** The commands to register. */
export function commandDefinitions(): CommandDefinition[] {
  return INTERACTIONS.flatMap(({ definition }) => (definition === undefined ? [] : [definition]));
}

/** A press must be answered within three seconds, so asking for its person's roles may not take longer. */
const ROLE_WAIT_MS = 1500;

/** Does what a press asks for. Never rejects: whatever fails is logged and said to the person. */
export async function handlePress(gateway: Gateway, received: Press): Promise<void> {
  try {
    if (!isAllowed(gateway.settings.discord, received.place)) {
      return await tell(received, "I am not at work in this channel.");
    }
    const press = { ...received, person: await personOf(gateway, received) };
    const refusal = roleRefusal(press.person);
    if (refusal !== null) return await tell(press, refusal);
    for (const each of INTERACTIONS) {
      const running = each.take(gateway, press);
      if (running !== null) return await running;
    }
    gateway.log.warn("press.unknown", { kind: press.kind });
    await tell(press, "I do not know this button any more.");
  } catch (error) {
    gateway.log.error("press.failed", { kind: received.kind, error: error as Error });
    await tell(received, "Something went wrong on my side. Try again in a moment.").catch(() => {});
  }
}

function personOf(
  { adapter, signal }: Gateway,
  { person, place }: Pick<Press, "person" | "place">,
): Promise<ChannelPerson> {
  return adapter.withRole(person, place, AbortSignal.any([signal, AbortSignal.timeout(ROLE_WAIT_MS)]));
}

function roleRefusal({ role }: ChannelPerson): string | null {
  if (role === "none") return "Your roles here do not let you do this. Ask an admin of this server.";
  if (role !== "unknown") return null;
  return "Discord does not tell me at the moment what your roles let you do. Try again in a minute.";
}

/** Suggestions while a person types; none where the command itself would be refused. */
export async function suggest(gateway: Gateway, received: SuggestRequest): Promise<{ name: string; value: string }[]> {
  if (!isAllowed(gateway.settings.discord, received.place)) return [];
  const request = { ...received, person: await personOf(gateway, received) };
  if (roleRefusal(request.person) !== null) return [];
  const name = request.command.split(" ")[0];
  const owner = INTERACTIONS.find(({ definition }) => definition?.kind === "chat" && definition.name === name);
  return (await owner?.suggest?.(gateway, request)) ?? [];
}
