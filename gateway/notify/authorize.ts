import { jwtVerify } from "jose";
import type { Clock } from "../../src/lib/clock.ts";
import { AUDIENCE_CHANNEL, ISSUER } from "../../src/protocol/auth.ts";

/** How far the clocks of two machines may differ. */
const CLOCK_LEEWAY_S = 30;

export type Caller = { ok: true; subject: string } | { ok: false; status: 401 | 403; error: string };

/** Who calls. Fails closed: without a secret nobody is let in (NTFY-11). */
export async function authorizeCaller(
  secret: string | null,
  clock: Clock,
  header: string | undefined,
): Promise<Caller> {
  if (secret === null) {
    return { ok: false, status: 401, error: "This gateway has no JWT secret, so it accepts no notifications." };
  }
  const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(header ?? "")?.[1];
  if (token === undefined) return { ok: false, status: 401, error: "A bearer token is needed." };
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
      algorithms: ["HS256"],
      issuer: ISSUER,
      audience: AUDIENCE_CHANNEL,
      clockTolerance: CLOCK_LEEWAY_S,
      currentDate: new Date(clock.now()),
      requiredClaims: ["sub", "scopes", "iat", "exp"],
    });
    const issued_late = (payload.iat ?? 0) - clock.now() / 1000 > CLOCK_LEEWAY_S;
    if (issued_late) return { ok: false, status: 401, error: "The token is not valid." };
    const scopes =
      typeof payload["scopes"] === "string" ? payload["scopes"].split(",").map((scope) => scope.trim()) : [];
    if (!scopes.includes("write") && !scopes.includes("approve")) {
      return { ok: false, status: 403, error: "The token lacks the scope write." };
    }
    return { ok: true, subject: payload.sub ?? "" };
  } catch {
    return { ok: false, status: 401, error: "The token is not valid." };
  }
}
