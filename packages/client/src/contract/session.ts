// The session of a person in a browser.
import { SCOPES } from "@posthorn/wire";
import { z } from "zod";
import { operation } from "./operation.ts";
import * as s from "./parts.ts";

const description = s.component("Session", {
  kind: s.choice(
    ["operator", "portal"],
    "`operator`: access to the whole installation. `portal`: access to one tenant.",
  ),
  tenant: s.nullable(s.tenantId, "Tenant of a portal session. Null for an operator."),
  user: s.nullable(s.userId, "The member who is signed in. Null without one."),
  role: s.nullable(s.role, "Current role of the member. Null without a member."),
  scopes: s.list(z.enum(SCOPES), "Permissions of the session. `admin` includes the others."),
  expires_at: s.nullableTime("When the session expires, in UTC. Null for a key."),
  theme: s.group("Appearance of the portal.", {
    name: s.nullableText("Name shown in the portal. Null if it is not set."),
    logo_url: s.nullableText("A path on this host, or a `data:` URL. Null if it is not set."),
    accent: s.nullableText("A colour such as `#0a7d55`. Null for the default."),
    appearance: s.choice(["auto", "light", "dark"], "`auto` follows the visitor's system."),
  }),
});
export type Session = z.output<typeof description>;

const signIn = z
  .strictObject({
    key: s.optionalText("An API key, a member's token or the admin key."),
    code: s.optionalText("Code of a one-time link."),
  })
  .meta({ id: "SignIn", description: "Either a key or a code." });

const headers = z.object({
  "posthorn-dashboard": s.choice(
    ["1", "portal"],
    "`1` for the dashboard, `portal` for the portal. Each has its own cookie.",
  ),
});

export const session = {
  create: operation("POST", "/api/v1/session", {
    summary: "Signs in with a key or the code of a one-time link, and sets a session cookie",
    permission: "public",
    headers,
    body: signIn,
    response: { status: 201, schema: description },
  }),
  get: operation("GET", "/api/v1/session", {
    summary: "Returns the current session or key",
    permission: { scopes: SCOPES, reach: "tenant" },
    response: { status: 200, schema: description },
  }),
  end: operation("DELETE", "/api/v1/session", {
    summary: "Signs out. All processes reject the session within a second",
    permission: { scopes: SCOPES, reach: "tenant" },
    response: { status: 204, schema: null },
    errors: { 404: ["session_not_found"] },
  }),
};
