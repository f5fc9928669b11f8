// The session of a person in a browser.
import { z } from "zod";
import { operation, ROLE_SCOPES, type Role, SCOPES } from "./operation.ts";
import { tenantId, time, userId } from "./parts.ts";

const description = z
  .object({
    kind: z
      .enum(["operator", "portal"])
      .describe("`operator`: access to the whole installation. `portal`: access to one tenant."),
    tenant: tenantId.nullable().describe("Tenant of a portal session. Null for an operator."),
    user: userId.nullable().describe("The member who is signed in. Null without one."),
    role: z
      .enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]])
      .nullable()
      .describe("Current role of the member. Null without a member."),
    scopes: z.array(z.enum(SCOPES)).describe("Permissions of the session. `admin` includes the others."),
    expires_at: time.nullable().describe("When the session expires, in UTC. Null for a key."),
    theme: z
      .object({
        name: z.string().nullable().describe("Name shown in the portal. Null if it is not set."),
        logo_url: z
          .string()
          .nullable()
          .describe("A path on this host, or a `data:` URL. Null if it is not set."),
        accent: z.string().nullable().describe("A colour such as `#0a7d55`. Null for the default."),
        appearance: z.enum(["auto", "light", "dark"]).describe("`auto` follows the visitor's system."),
      })
      .describe("Appearance of the portal."),
  })
  .meta({ id: "Session" });
export type Session = z.output<typeof description>;

const signIn = z
  .strictObject({
    key: z.string().optional().describe("An API key, a member's token or the admin key."),
    code: z.string().optional().describe("Code of a one-time link."),
  })
  .meta({ id: "SignIn", description: "Either a key or a code." });

const headers = z.object({
  "posthorn-dashboard": z
    .enum(["1", "portal"])
    .describe("`1` for the dashboard, `portal` for the portal. Each has its own cookie."),
});

export const session = {
  create: operation({
    method: "POST",
    path: "/api/v1/session",
    summary: "Signs in with a key or the code of a one-time link, and sets a session cookie",
    permission: "public",
    headers,
    body: signIn,
    answer: { status: 201, schema: description },
  }),
  get: operation({
    method: "GET",
    path: "/api/v1/session",
    summary: "Returns the current session or key",
    permission: { scopes: SCOPES, reach: "tenant" },
    answer: { status: 200, schema: description },
  }),
  end: operation({
    method: "DELETE",
    path: "/api/v1/session",
    summary: "Signs out. All processes reject the session within a second",
    permission: { scopes: SCOPES, reach: "tenant" },
    answer: { status: 204, schema: null },
    refusals: { 404: ["session_not_found"] },
  }),
};
