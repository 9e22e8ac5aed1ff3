import { SignJWT } from "jose";
import type { Clock } from "../src/lib/clock.ts";
import { AUDIENCE_SERVER, ISSUER } from "../src/protocol/auth.ts";

/** Short, so that a leaked one is soon worth nothing. */
const LIFETIME_S = 300;
/** A new one is made this long before the old one ends, for the way there and for clocks that differ. */
const RENEW_BEFORE_S = 60;

/** Makes the gateway's own credential and keeps it while it is good. */
export function createServiceToken(secret: string, clock: Clock): () => Promise<string> {
  const key = new TextEncoder().encode(secret);
  let current: { token: Promise<string>; expires_s: number } | null = null;
  return () => {
    const now_s = Math.floor(clock.now() / 1000);
    if (current === null || current.expires_s - RENEW_BEFORE_S <= now_s) {
      const expires_s = now_s + LIFETIME_S;
      const token = new SignJWT({ scopes: "service" })
        .setProtectedHeader({ alg: "HS256", typ: "JWT" })
        .setSubject("gateway")
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE_SERVER)
        .setIssuedAt(now_s)
        .setExpirationTime(expires_s)
        .sign(key);
      current = { token, expires_s };
    }
    return current.token;
  };
}
