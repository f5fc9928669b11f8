// One-time links that sign a customer in to the portal.
import { ROLE_SCOPES } from "@posthorn/wire";
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

export const portalLink = s.component("PortalLink", {
  id: s.linkId,
  tenant: s.tenantId,
  url: s.text("URL that opens the portal once. It is returned only once."),
  expires_at: s.time.describe("When it expires, in UTC."),
});
export type PortalLink = z.output<typeof portalLink>;

const portalLinkInput = s.inputComponent("PortalLinkInput", {
  user: s.optional(s.userId, "Member who signs in, with the role at the time of use. Defaults to no member."),
  role: s.optional(s.role, "Maximum permissions as a role. Defaults to `admin`."),
  scopes: s.optional(z.array(z.enum(ROLE_SCOPES.admin)), "Maximum permissions, instead of a role.", {
    minItems: 1,
  }),
  expires_in_seconds: s.optionalInt("Lifetime of the link in seconds, from a minute to an hour.", {
    minimum: 60,
    maximum: 3_600,
    default: 300,
  }),
  session_seconds: s.optionalInt("Lifetime of the session in seconds, from a minute to an hour.", {
    minimum: 60,
    maximum: 3_600,
    default: 3_600,
  }),
});

const managing: Permission = { scopes: ["admin"], reach: "tenant" };
const path = "/api/v1/tenants/{tenant}/portal-links";

export const portalLinks = {
  create: operation("POST", path, {
    summary: "Creates a one-time link to the portal of a tenant",
    permission: managing,
    body: portalLinkInput,
    isBodyOptional: true,
    response: { status: 201, schema: portalLink },
    errors: { 404: ["tenant_not_found", "member_not_found"], 422: ["invalid_portal_link"] },
  }),
  revoke: operation("DELETE", `${path}/{link}`, {
    summary: "Revokes a link and ends its session",
    permission: managing,
    response: { status: 204, schema: null },
    errors: { 404: ["portal_link_not_found"] },
  }),
};
