// Members of a tenant: users of your system with a role.
import { z } from "zod";
import { newKey } from "./keys.ts";
import { operation } from "./operation.ts";
import * as s from "./parts.ts";

const role = s.role.describe(
  "Permissions of the member's tokens. Owners and admins manage endpoints and retry; members only read.",
);

export const member = s.component("Member", {
  tenant: s.tenantId,
  user: s.userId,
  role,
  email: s.nullableText(
    "Address for mails about disabled endpoints, sent to owners and admins. Null if there is none.",
  ),
  created_at: s.createdAt,
  updated_at: s.updatedAt,
});
export type Member = z.output<typeof member>;

const memberInput = s.inputComponent("MemberInput", {
  role,
  email: s.nullishText(
    "Address for mails about disabled endpoints, sent to owners and admins. Unchanged if left out; null removes it.",
    { maxLength: 254, examples: ["anna@example.com"] },
  ),
});

const ofTenant = "/api/v1/tenants/{tenant}/members";
const path = `${ofTenant}/{user}` as const;

export const members = {
  list: operation("GET", ofTenant, {
    summary: "Lists the members of a tenant",
    permission: { scopes: ["webhooks:manage"], reach: "tenant" },
    query: s.listQuery({}),
    response: { status: 200, schema: s.page(member) },
    errors: { 404: ["tenant_not_found"] },
  }),
  put: operation("PUT", path, {
    summary: "Adds a member, which needs a key of the whole installation, or changes the role",
    permission: { scopes: ["admin"], reach: "tenant" },
    body: memberInput,
    response: { status: 200, schema: member },
    errors: { 404: ["tenant_not_found"], 422: ["invalid_member"] },
  }),
  get: operation("GET", path, {
    summary: "Returns a member",
    permission: { scopes: ["webhooks:manage"], reach: "tenant" },
    response: { status: 200, schema: member },
    errors: { 404: ["member_not_found"] },
  }),
  delete: operation("DELETE", path, {
    summary: "Removes a member",
    permission: { scopes: ["admin"], reach: "tenant" },
    response: { status: 204, schema: null },
    errors: { 404: ["member_not_found"] },
  }),
  createToken: operation("POST", `${path}/tokens`, {
    summary: "Creates a token for a member, with the role at the time of use",
    permission: { scopes: ["admin"], reach: "tenant" },
    body: z.strictObject({
      expires_in_seconds: s.optionalInt("Lifetime of the token in seconds, from a minute to 30 days.", {
        minimum: 60,
        maximum: 2_592_000,
        default: 3_600,
      }),
    }),
    isBodyOptional: true,
    response: { status: 201, schema: newKey },
    errors: { 404: ["member_not_found"], 409: ["key_limit_reached"], 422: ["invalid_key"] },
  }),
};
