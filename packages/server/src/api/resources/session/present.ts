import { SCOPES, type Session } from "@posthorn/client";
import type { Sent } from "../../implement.ts";
import type { Principal } from "../../principal.ts";
import type { PortalTheme } from "../../session/sign-in.ts";

/** Who is signed in, as the API shows it; of a key the same, without an end. */
export function presentSession(principal: Principal, theme: PortalTheme): Sent<Session> {
  const { tenant, user, role, scopes, session } = principal;
  return {
    kind: tenant === null ? "operator" : "portal",
    tenant,
    user,
    role,
    scopes: SCOPES.filter((scope) => scopes.has(scope)),
    expires_at: session?.expiresAt ?? null,
    theme: {
      name: theme.name ?? null,
      logo_url: theme.logoUrl ?? null,
      accent: theme.accent ?? null,
      appearance: theme.appearance ?? "auto",
    },
  };
}
