// Members of a tenant: users of your system with a role.
import { z } from "zod";
import { newKey } from "./keys.ts";
import { operation, ROLE_SCOPES, type Role } from "./operation.ts";
import { createdAt, listQuery, page, tenantId, updatedAt, userId } from "./parts.ts";

const role = z
  .enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]])
  .describe(
    "Permissions of the member's tokens. Owners and admins manage endpoints and retry; members only read.",
  );

export const member = z
  .object({
    tenant: tenantId,
    user: userId,
    role,
    email: z
      .string()
      .nullable()
      .describe(
        "Address for mails about disabled endpoints, sent to owners and admins. Null if there is none.",
      ),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: "Member" });
export type Member = z.output<typeof member>;

const memberInput = z
  .strictObject({
    role,
    email: z
      .string()
      .nullable()
      .optional()
      .meta({
        description:
          "Address for mails about disabled endpoints, sent to owners and admins. Unchanged if left out; null removes it.",
        maxLength: 254,
        examples: ["anna@example.com"],
      }),
  })
  .meta({ id: "MemberInput" });

const ofTenant = "/api/v1/tenants/{tenant}/members";
const path = `${ofTenant}/{user}` as const;

export const members = {
  list: operation({
    method: "GET",
    path: ofTenant,
    summary: "Lists the members of a tenant",
    permission: { scopes: ["webhooks:manage"], reach: "tenant" },
    query: listQuery({}),
    answer: { status: 200, schema: page(member) },
    refusals: { 404: ["tenant_not_found"] },
  }),
  put: operation({
    method: "PUT",
    path,
    summary: "Adds a member, which needs a key of the whole installation, or changes the role",
    permission: { scopes: ["admin"], reach: "tenant" },
    body: memberInput,
    answer: { status: 200, schema: member },
    refusals: { 404: ["tenant_not_found"], 422: ["invalid_member"] },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Returns a member",
    permission: { scopes: ["webhooks:manage"], reach: "tenant" },
    answer: { status: 200, schema: member },
    refusals: { 404: ["member_not_found"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Removes a member",
    permission: { scopes: ["admin"], reach: "tenant" },
    answer: { status: 204, schema: null },
    refusals: { 404: ["member_not_found"] },
  }),
  createToken: operation({
    method: "POST",
    path: `${path}/tokens`,
    summary: "Creates a token for a member, with the role at the time of use",
    permission: { scopes: ["admin"], reach: "tenant" },
    body: z.strictObject({
      expires_in_seconds: z.int().optional().meta({
        description: "Lifetime of the token in seconds, from a minute to 30 days.",
        minimum: 60,
        maximum: 2_592_000,
        default: 3_600,
      }),
    }),
    isBodyOptional: true,
    answer: { status: 201, schema: newKey },
    refusals: { 404: ["member_not_found"], 409: ["key_limit_reached"], 422: ["invalid_key"] },
  }),
};
