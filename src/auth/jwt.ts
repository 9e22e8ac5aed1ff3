import type { AUDIENCE_CHANNEL, AUDIENCE_SERVER } from "../protocol/auth.ts";
import { ISSUER } from "../protocol/auth.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";

/** How far the clocks of two machines may differ. */
export const CLOCK_LEEWAY_S = 30;

/** How long a login lasts. */
export const LOGIN_LIFETIME_S = 24 * 3600;

/** What one of our tokens says, after its signature, issuer, audience and times were checked. */
export interface Claims {
  sub: string;
  /** Comma-separated. */
  scopes: string;
  /** Seconds since the epoch. */
  exp: number;
  /** The API token that this one was made from: it ends with it. */
  token_id?: string;
}

export interface MintRequest {
  sub: string;
  scopes: string;
  audience: typeof AUDIENCE_SERVER | typeof AUDIENCE_CHANNEL;
  lifetime_s: number;
  token_id?: string;
}

/** Signs a token with HS256. */
export async function mintJwt(secret: Uint8Array, clock: Clock, request: MintRequest): Promise<string> {
  const { SignJWT } = await import("jose");
  const now_s = Math.floor(clock.now() / 1000);
  const source = request.token_id === undefined ? {} : { token_id: request.token_id };
  return (
    new SignJWT({ scopes: request.scopes, ...source })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      // Two logins in one second are two sessions, of which each can be ended.
      .setJti(newId())
      .setSubject(request.sub)
      .setIssuer(ISSUER)
      .setAudience(request.audience)
      .setIssuedAt(now_s)
      .setExpirationTime(now_s + request.lifetime_s)
      .sign(secret)
  );
}

/** Checks signature, algorithm, issuer, audience, times and the shape of the claims; null when any of it is wrong. */
export async function verifyJwt(
  secret: Uint8Array,
  clock: Clock,
  token: string,
  audience: string,
): Promise<Claims | null> {
  const { errors, jwtVerify } = await import("jose");
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: ["HS256"],
      issuer: ISSUER,
      audience,
      clockTolerance: CLOCK_LEEWAY_S,
      currentDate: new Date(clock.now()),
      requiredClaims: ["sub", "scopes", "iat", "exp"],
    });
    const { sub, scopes, exp, iat, token_id } = payload;
    if (typeof sub !== "string" || sub === "" || typeof scopes !== "string") return null;
    if (exp === undefined || iat === undefined || iat > clock.now() / 1000 + CLOCK_LEEWAY_S) return null;
    if (token_id !== undefined && typeof token_id !== "string") return null;
    return { sub, scopes, exp, ...(token_id === undefined ? {} : { token_id }) };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
    throw error;
  }
}
