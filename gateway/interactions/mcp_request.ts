import type { McpRequestAnswer, McpRequestBody, OpenMcpRequest } from "../../src/protocol/mcp_request.ts";
import type { Press } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { formId, type FormPlace, mcpForm, mcpFormValues, pageCount, pageOfField } from "../render/mcp_request.ts";
import { textView, type TextView } from "../render/view.ts";
import type { ServerAnswer } from "../server_request.ts";
import { pressedId, tell, tellRefusal, workstreamOfPress } from "./common.ts";
import { interaction } from "./interaction.ts";

const LINK_LENGTH_MAX = 512;

/** Accept and Decline. */
export const mcpButtons = interaction({
  parse: (press) => pressedId(press, "button", ["mcp_accept", "mcp_decline"]),
  async run(gateway, press, { verb, subject }) {
    await press.acknowledge();
    await answer(gateway, press, subject, { action: verb === "mcp_accept" ? "accept" : "decline" });
  },
});

/** "Open…" says yes to the page, and gives its address to this person alone. */
export const mcpLinkButton = interaction({
  parse: (press) => pressedId(press, "button", ["mcp_link"]),
  async run(gateway, press, { subject }) {
    await press.acknowledge();
    const open = await openRequest(gateway, press, subject, { card: press.message_id ?? "" });
    if (open?.request.kind !== "link") return;
    const { url } = open.request;
    if (!(await answer(gateway, press, subject, { action: "accept" }))) return;
    const text = "The server knows that you agreed. Do there what it asks for, and go on here.";
    await press.answer(
      { ...textView(text), buttons: [{ kind: "link", url, label: "Open the page" }] },
      { private: true },
    );
  },
});

/** "Answer…" opens the form, or its next part. */
export const mcpFillButton = interaction({
  parse: (press) => pressedId(press, "button", ["mcp_fill"]),
  async run(gateway, press, { subject, call_id }) {
    const place = placeOf(press, call_id);
    const open = await openRequest(gateway, press, subject, place);
    if (open?.request.kind === "form") await press.openForm(mcpForm(open, open.request.fields, place));
  },
});

/** The form sends what was filled in. Where a part is missing, or a value does not fit, it can be gone on with. */
export const mcpFilledForm = interaction({
  parse: (press) => pressedId(press, "form", ["mcp_form"]),
  async run(gateway, press, { subject, call_id }) {
    await press.acknowledge();
    const place = placeOf(press, call_id);
    const open = await openRequest(gateway, press, subject, place);
    if (open?.request.kind !== "form") return;
    const { fields } = open.request;
    const { page } = place;
    const partial = page + 1 < pageCount(fields);
    const content = mcpFormValues(fields, page, press.values, press.choices);
    const sent = await send(gateway, press, subject, { action: "accept", partial, content }, place);
    if (sent === null) return;
    if (!sent.ok) {
      if (sent.status !== 400) return tellRefusal(gateway, press, sent);
      return press.answer(fillView(sent.error, subject, place, "Fill it in again…"), { private: true });
    }
    if (sent.value.status === "ok") return;
    const next = partial ? page + 1 : pageOfField(fields, sent.value.missing);
    const text = partial
      ? `Kept. Part ${next + 1} of ${pageCount(fields)} is next.`
      : "Something that is asked for has no value yet.";
    await press.answer(fillView(text, subject, { ...place, page: next }, "Go on…"), { private: true });
  },
});

/** "Connect…" gives whoever presses an address to sign in at, for that person alone. */
export const mcpConnectButton = interaction({
  parse: (press) => pressedId(press, "button", ["mcp_connect"]),
  async run(gateway, press, { subject }) {
    await press.acknowledge();
    const open = await openRequest(gateway, press, subject, { card: press.message_id ?? "" });
    if (open?.request.kind === "sign_in") await connect(gateway, press, open.server);
  },
});

/** Sends a person to where a server asks who they are. */
export async function connect(gateway: Gateway, press: Press, server: string): Promise<void> {
  const begun = await gateway.server.beginSignIn(press.person, server);
  if (!begun.ok) return tellRefusal(gateway, press, begun);
  const text = "This address is for you alone, for ten minutes. Sign in there; what waits here goes on by itself.";
  const button = { kind: "link" as const, url: begun.value.url, label: "Sign in" };
  // The platform takes no longer addresses on buttons.
  const fits = begun.value.url.length <= LINK_LENGTH_MAX;
  const view = fits ? { ...textView(text), buttons: [button] } : textView(`${text}\n<${begun.value.url}>`);
  await press.answer(view, { private: true });
}

/** Which part of a form, and the card that it belongs to: a private message in between is in no record. */
function placeOf(press: Press, written: string | null): FormPlace {
  const [page = "0", card = press.message_id ?? ""] = (written ?? "").split(".").filter(Boolean);
  return { page: Number(page) || 0, card };
}

function fillView(text: string, request_id: string, place: FormPlace, label: string): TextView {
  const id = formId("mcp_fill", request_id, place);
  return { ...textView(text), buttons: [{ kind: "press", id, label, style: "primary" }] };
}

async function openRequest(
  gateway: Gateway,
  press: Press,
  request_id: string,
  { card }: Pick<FormPlace, "card">,
): Promise<OpenMcpRequest | null> {
  const ws_id = await workstreamIdOf(gateway, press, card);
  if (ws_id === null) return null;
  const open = await gateway.server.mcpRequest(press.person, ws_id, request_id);
  if (open.ok) return open.value;
  await tellRefusal(gateway, press, open);
  return null;
}

async function send(
  gateway: Gateway,
  press: Press,
  request_id: string,
  body: McpRequestBody,
  { card }: Pick<FormPlace, "card">,
): Promise<ServerAnswer<McpRequestAnswer> | null> {
  const ws_id = await workstreamIdOf(gateway, press, card);
  return ws_id === null ? null : gateway.server.answerMcpRequest(press.person, ws_id, request_id, body);
}

/** Answers whether the server took it. */
async function answer(gateway: Gateway, press: Press, request_id: string, body: McpRequestBody): Promise<boolean> {
  const sent = await send(gateway, press, request_id, body, { card: press.message_id ?? "" });
  if (sent !== null && !sent.ok) await tellRefusal(gateway, press, sent);
  return sent?.ok === true;
}

async function workstreamIdOf(gateway: Gateway, press: Press, card: string): Promise<string | null> {
  const ws_id = await workstreamOfPress(gateway, { ...press, message_id: card === "" ? press.message_id : card });
  if (ws_id.ok && ws_id.value !== null) return ws_id.value;
  if (ws_id.ok) await tell(press, "There is no conversation with me here any more.");
  else await tellRefusal(gateway, press, ws_id);
  return null;
}
