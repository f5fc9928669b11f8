// Members of a tenant: the caller's own users, each in a role.
import { z } from "zod";
import { newKey } from "./keys.ts";
import { operation, ROLE_SCOPES, type Role } from "./operation.ts";
import { listQuery, page, tenantId, time, userId } from "./parts.ts";

const role = z.enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]]);

export const member = z
  .object({
    tenant: tenantId,
    user: userId,
    role,
    email: z.string().nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Member" });
export type Member = z.output<typeof member>;

const memberInput = z
  .strictObject({
    role,
    email: z.string().nullable().optional().describe("Left out, it stays as it is."),
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
  }),
  put: operation({
    method: "PUT",
    path,
    summary: "Makes a user a member, with a key of the whole installation; or changes the role",
    permission: { scopes: ["admin"], reach: "tenant" },
    body: memberInput,
    answer: { status: 200, schema: member },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a member",
    permission: { scopes: ["webhooks:manage"], reach: "tenant" },
    answer: { status: 200, schema: member },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Removes a member",
    permission: { scopes: ["admin"], reach: "tenant" },
    answer: { status: 204, schema: null },
  }),
  createToken: operation({
    method: "POST",
    path: `${path}/tokens`,
    summary: "Makes a token for a member to act with, in the role they have when they use it",
    permission: { scopes: ["admin"], reach: "tenant" },
    body: z.strictObject({
      expires_in_seconds: z.int().optional().meta({ minimum: 60, maximum: 2_592_000, default: 3_600 }),
    }),
    isBodyOptional: true,
    answer: { status: 201, schema: newKey },
  }),
};
