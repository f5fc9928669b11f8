// The session of a person in a browser: who is signed in, and what they may.
import { z } from "zod";
import { operation, ROLE_SCOPES, type Role, SCOPES } from "./operation.ts";
import { tenantId, time, userId } from "./parts.ts";

const description = z
  .object({
    kind: z
      .enum(["operator", "portal"])
      .describe("`operator`: of the whole installation. `portal`: of one tenant, and nothing else is there."),
    tenant: tenantId.nullable().describe("The only one there is; null for an operator."),
    user: userId.nullable().describe("The member who is signed in; null: nobody in particular."),
    role: z
      .enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]])
      .nullable()
      .describe("What that member is now; null without one."),
    scopes: z.array(z.enum(SCOPES)).describe("What may be done; `admin` includes the others."),
    expires_at: time.nullable().describe("When the session ends, in UTC; null: it is no session but a key."),
    theme: z
      .object({
        name: z.string().nullable().describe("Whose portal it is, in words; null: nothing was set."),
        logo_url: z.string().nullable().describe("A path on this host, or a `data:` URL; null: none."),
        accent: z.string().nullable().describe("A colour such as `#0a7d55`; null: as it comes."),
        appearance: z.enum(["auto", "light", "dark"]).describe("`auto`: as the visitor's system is."),
      })
      .describe("How the portal is to look."),
  })
  .meta({ id: "Session" });
export type Session = z.output<typeof description>;

const signIn = z
  .strictObject({
    key: z.string().optional().describe("A key, a member's token or the admin key."),
    code: z.string().optional().describe("The code of a one-time link, which is used up by it."),
  })
  .meta({ id: "SignIn", description: "Exactly one of both." });

const headers = z.object({
  "posthorn-dashboard": z
    .enum(["1", "portal"])
    .describe("Which page asks: the dashboard or the portal; each has a cookie of its own."),
});

export const session = {
  create: operation({
    method: "POST",
    path: "/api/v1/session",
    summary: "Signs in with a key or the code of a one-time link; the session is in a cookie",
    permission: "public",
    headers,
    body: signIn,
    answer: { status: 201, schema: description },
  }),
  get: operation({
    method: "GET",
    path: "/api/v1/session",
    summary: "Shows who is signed in, or whose key it is",
    permission: { scopes: SCOPES, reach: "tenant" },
    answer: { status: 200, schema: description },
  }),
  end: operation({
    method: "DELETE",
    path: "/api/v1/session",
    summary: "Signs out: the session is refused everywhere within a second",
    permission: { scopes: SCOPES, reach: "tenant" },
    answer: { status: 204, schema: null },
    refusals: { 404: ["session_not_found"] },
  }),
};
