import { SCOPES, type Session } from "@posthorn/client";
import type { FromLibrary } from "../../present.ts";
import type { Principal } from "../../principal.ts";
import type { PortalTheme } from "../../session/sign-in.ts";

/** Returns the session resource of a principal. A request with a key has no expiry. */
export function sessionOf(principal: Principal, theme: PortalTheme): FromLibrary<Session> {
  const { tenant, user, role, scopes, session } = principal;
  return {
    kind: tenant === null ? "operator" : "portal",
    tenant,
    user,
    role,
    scopes: SCOPES.filter((scope) => scopes.has(scope)),
    expiresAt: session?.expiresAt ?? null,
    theme: {
      name: theme.name ?? null,
      logoUrl: theme.logoUrl ?? null,
      accent: theme.accent ?? null,
      appearance: theme.appearance ?? "auto",
    },
  };
}
