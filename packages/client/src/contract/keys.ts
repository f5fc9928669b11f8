// API keys. A key of a tenant gives access to that tenant only.
import { z } from "zod";
import { operation, type Permission, ROLE_SCOPES, type Role, SCOPES } from "./operation.ts";
import { createdAt, keyId, listQuery, page, tenantFilter, tenantId, time, userId } from "./parts.ts";

export const key = z
  .object({
    id: keyId,
    name: z.string().describe("Purpose of the key."),
    tenant: tenantId.nullable().describe("Tenant of the key. Null for the whole installation."),
    user: userId.nullable().describe("Owner of a token. Null for a key."),
    role: z
      .enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]])
      .nullable()
      .describe(
        "Current role of the owner of a token. Null for a key, or if the owner is no longer a member.",
      ),
    scopes: z
      .array(z.enum(SCOPES))
      .describe("Permissions of a key. Empty for a token, which has those of the role."),
    rate_limit: z.int().nullable().describe("Requests per second. Null uses the deployment default."),
    created_at: createdAt,
    expires_at: time.nullable().describe("When it expires. Null if it does not."),
    last_used_at: time
      .nullable()
      .describe("When it was last used, to the minute. Null if it was never used."),
  })
  .meta({ id: "Key" });
export type Key = z.output<typeof key>;

export const newKey = key
  .extend({ key: z.string().describe("The key itself. It is returned only once.") })
  .meta({ id: "NewKey" });

const keyInput = z
  .strictObject({
    name: z.string().meta({ description: "Purpose of the key.", minLength: 1, maxLength: 200 }),
    tenant: tenantId
      .nullable()
      .optional()
      .describe(
        "Tenant of the key. Defaults to the whole installation, or to the tenant of the calling key.",
      ),
    scopes: z
      .array(z.enum(SCOPES))
      .meta({ description: "Permissions of the key. `admin` includes the others.", minItems: 1 }),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .describe("When it expires: a future time with a time zone. By default it does not expire."),
    rate_limit: z.int().nullable().optional().meta({
      description:
        "Requests per second and process. Null uses the deployment default (1000 unless configured).",
      minimum: 1,
      maximum: 100_000,
    }),
  })
  .meta({ id: "KeyInput" });

const managing: Permission = { scopes: ["admin"], reach: "tenant" };

export const keys = {
  create: operation({
    method: "POST",
    path: "/api/v1/keys",
    summary: "Creates a key, which is returned only once",
    permission: managing,
    body: keyInput,
    answer: { status: 201, schema: newKey },
    refusals: { 404: ["tenant_not_found"], 409: ["key_limit_reached"], 422: ["invalid_key"] },
  }),
  list: operation({
    method: "GET",
    path: "/api/v1/keys",
    summary: "Lists keys and members' tokens without their values",
    permission: managing,
    query: listQuery({ tenant: tenantFilter }),
    answer: { status: 200, schema: page(key) },
  }),
  revoke: operation({
    method: "DELETE",
    path: "/api/v1/keys/{key}",
    summary: "Revokes a key. All processes reject it within a second",
    permission: managing,
    answer: { status: 204, schema: null },
    refusals: { 404: ["key_not_found"] },
  }),
};
