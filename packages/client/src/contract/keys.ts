// Keys of programs. A key of one tenant acts for that tenant alone.
import { z } from "zod";
import { operation, type Permission, ROLE_SCOPES, type Role, SCOPES } from "./operation.ts";
import { createdAt, keyId, listQuery, page, tenantFilter, tenantId, time, userId } from "./parts.ts";

export const key = z
  .object({
    id: keyId,
    name: z.string().describe("What the key is for, in words of your own."),
    tenant: tenantId.nullable().describe("Null: it is of the whole installation."),
    user: userId.nullable().describe("Whose token it is; null for a key."),
    role: z
      .enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]])
      .nullable()
      .describe(
        "Of a token: what its member is now; null for a key, and when there is no such member any more.",
      ),
    scopes: z.array(z.enum(SCOPES)).describe("Of a token none: the member's role says."),
    rate_limit: z.int().nullable().describe("Requests per second; null: as the deployment is set."),
    created_at: createdAt,
    expires_at: time.nullable().describe("From when on it is refused; null: never."),
    last_used_at: time.nullable().describe("To the minute."),
  })
  .meta({ id: "Key" });
export type Key = z.output<typeof key>;

export const newKey = key
  .extend({ key: z.string().describe("The key itself, shown this once.") })
  .meta({ id: "NewKey" });

const keyInput = z
  .strictObject({
    name: z
      .string()
      .meta({ description: "What the key is for, in words of your own.", minLength: 1, maxLength: 200 }),
    tenant: tenantId
      .nullable()
      .optional()
      .describe(
        "The tenant it acts for; null or left out: the whole installation. A key of one tenant makes keys of that tenant only.",
      ),
    scopes: z
      .array(z.enum(SCOPES))
      .meta({ description: "What it may do; `admin` includes the others.", minItems: 1 }),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .describe("From when on it is refused: a time in the future, with its zone; null or left out: never."),
    rate_limit: z.int().nullable().optional().meta({
      description:
        "Requests per second that it may make of each process; null or left out: as the deployment is set, 1000 unless told.",
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
    summary: "Makes a key, which is shown this once",
    permission: managing,
    body: keyInput,
    answer: { status: 201, schema: newKey },
    refusals: { 404: ["tenant_not_found"], 409: ["key_limit_reached"], 422: ["invalid_key"] },
  }),
  list: operation({
    method: "GET",
    path: "/api/v1/keys",
    summary: "Lists keys and members' tokens, without what they are",
    permission: managing,
    query: listQuery({ tenant: tenantFilter }),
    answer: { status: 200, schema: page(key) },
  }),
  revoke: operation({
    method: "DELETE",
    path: "/api/v1/keys/{key}",
    summary: "Revokes a key: it is refused everywhere within a second",
    permission: managing,
    answer: { status: 204, schema: null },
    refusals: { 404: ["key_not_found"] },
  }),
};
