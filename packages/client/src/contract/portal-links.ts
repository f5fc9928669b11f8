// One-time links that open the portal for a customer.
import { z } from "zod";
import { operation, type Permission, ROLE_SCOPES, type Role } from "./operation.ts";
import { linkId, tenantId, time, userId } from "./parts.ts";

export const portalLink = z
  .object({
    id: linkId,
    tenant: tenantId,
    url: z.string().describe("Where to send the customer: it opens the portal once. Shown this once."),
    expires_at: time.describe("Until when it can be used, in UTC."),
  })
  .meta({ id: "PortalLink" });
export type PortalLink = z.output<typeof portalLink>;

const portalLinkInput = z
  .strictObject({
    user: userId
      .optional()
      .describe(
        "The member it is for, in the role they have when they use it; left out: nobody in particular.",
      ),
    role: z
      .enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]])
      .optional()
      .describe("What may be done at most: what such a member may. Left out: as an `admin`."),
    scopes: z
      .array(z.enum(ROLE_SCOPES.admin))
      .optional()
      .meta({ description: "What may be done at most, instead of a role.", minItems: 1 }),
    expires_in_seconds: z.int().optional().meta({
      description: "How long the link can be used, in seconds: a minute to an hour.",
      minimum: 60,
      maximum: 3_600,
      default: 300,
    }),
    session_seconds: z.int().optional().meta({
      description: "How long the session lasts that it opens, in seconds: a minute to an hour.",
      minimum: 60,
      maximum: 3_600,
      default: 3_600,
    }),
  })
  .meta({ id: "PortalLinkInput" });

const managing: Permission = { scopes: ["admin"], reach: "tenant" };
const path = "/api/v1/tenants/{tenant}/portal-links";

export const portalLinks = {
  create: operation({
    method: "POST",
    path,
    summary: "Makes a link that opens the portal of a tenant, once",
    permission: managing,
    body: portalLinkInput,
    isBodyOptional: true,
    answer: { status: 201, schema: portalLink },
    refusals: { 404: ["tenant_not_found", "member_not_found"], 422: ["invalid_portal_link"] },
  }),
  revoke: operation({
    method: "DELETE",
    path: `${path}/{link}`,
    summary: "Revokes a link, and ends the session that it opened",
    permission: managing,
    answer: { status: 204, schema: null },
    refusals: { 404: ["portal_link_not_found"] },
  }),
};
