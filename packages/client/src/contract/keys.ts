// API keys. A key of a tenant gives access to that tenant only.
import { SCOPES } from "@posthorn/wire";
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

export const key = s.component("Key", {
  id: s.keyId,
  name: s.text("Purpose of the key."),
  tenant: s.nullable(s.tenantId, "Tenant of the key. Null for the whole installation."),
  user: s.nullable(s.userId, "Owner of a token. Null for a key."),
  role: s.nullable(
    s.role,
    "Current role of the owner of a token. Null for a key, or if the owner is no longer a member.",
  ),
  scopes: s.list(z.enum(SCOPES), "Permissions of a key. Empty for a token, which has those of the role."),
  rate_limit: s.nullableInt("Requests per second. Null uses the deployment default."),
  created_at: s.createdAt,
  expires_at: s.nullableTime("When it expires. Null if it does not."),
  last_used_at: s.nullableTime("When it was last used, to the minute. Null if it was never used."),
});
export type Key = z.output<typeof key>;

export const newKey = s.component("NewKey", {
  ...key.shape,
  key: s.text("The key itself. It is returned only once."),
});

const keyInput = s.inputComponent("KeyInput", {
  name: z.string().meta({ description: "Purpose of the key.", minLength: 1, maxLength: 200 }),
  tenant: s.nullish(
    s.tenantId,
    "Tenant of the key. Defaults to the whole installation, or to the tenant of the calling key.",
  ),
  scopes: s.list(z.enum(SCOPES), "Permissions of the key. `admin` includes the others.", { minItems: 1 }),
  expires_at: s.nullish(
    z.iso.datetime({ offset: true }),
    "When it expires: a future time with a time zone. By default it does not expire.",
  ),
  rate_limit: s.nullish(
    z.int(),
    "Requests per second, counted by each server. Null uses the deployment default (1000 unless configured).",
    { minimum: 1, maximum: 100_000 },
  ),
});

const managing: Permission = { scopes: ["admin"], reach: "tenant" };

export const keys = {
  create: operation("POST", "/api/v1/keys", {
    summary: "Creates a key, which is returned only once",
    permission: managing,
    body: keyInput,
    response: { status: 201, schema: newKey },
    errors: { 404: ["tenant_not_found"], 409: ["key_limit_reached"], 422: ["invalid_key"] },
  }),
  list: operation("GET", "/api/v1/keys", {
    summary: "Lists keys and members' tokens without their values",
    permission: managing,
    query: s.listQuery({ tenant: s.tenantFilter }),
    response: { status: 200, schema: s.page(key) },
  }),
  revoke: operation("DELETE", "/api/v1/keys/{key}", {
    summary: "Revokes a key. All processes reject it within a second",
    remark:
      "Replays that it has scheduled are cancelled, each with an entry in the audit log. Running ones continue.",
    permission: managing,
    response: { status: 204, schema: null },
    errors: { 404: ["key_not_found"] },
  }),
};
