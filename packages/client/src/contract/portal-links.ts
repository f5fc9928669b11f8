// One-time links that sign a customer in to the portal.
import { z } from "zod";
import { operation, type Permission, ROLE_SCOPES, type Role } from "./operation.ts";
import { linkId, tenantId, time, userId } from "./parts.ts";

export const portalLink = z
  .object({
    id: linkId,
    tenant: tenantId,
    url: z.string().describe("URL that opens the portal once. It is returned only once."),
    expires_at: time.describe("When it expires, in UTC."),
  })
  .meta({ id: "PortalLink" });
export type PortalLink = z.output<typeof portalLink>;

const portalLinkInput = z
  .strictObject({
    user: userId
      .optional()
      .describe("Member who signs in, with the role at the time of use. Defaults to no member."),
    role: z
      .enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]])
      .optional()
      .describe("Maximum permissions as a role. Defaults to `admin`."),
    scopes: z
      .array(z.enum(ROLE_SCOPES.admin))
      .optional()
      .meta({ description: "Maximum permissions, instead of a role.", minItems: 1 }),
    expires_in_seconds: z.int().optional().meta({
      description: "Lifetime of the link in seconds, from a minute to an hour.",
      minimum: 60,
      maximum: 3_600,
      default: 300,
    }),
    session_seconds: z.int().optional().meta({
      description: "Lifetime of the session in seconds, from a minute to an hour.",
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
    summary: "Creates a one-time link to the portal of a tenant",
    permission: managing,
    body: portalLinkInput,
    isBodyOptional: true,
    answer: { status: 201, schema: portalLink },
    refusals: { 404: ["tenant_not_found", "member_not_found"], 422: ["invalid_portal_link"] },
  }),
  revoke: operation({
    method: "DELETE",
    path: `${path}/{link}`,
    summary: "Revokes a link and ends its session",
    permission: managing,
    answer: { status: 204, schema: null },
    refusals: { 404: ["portal_link_not_found"] },
  }),
};
