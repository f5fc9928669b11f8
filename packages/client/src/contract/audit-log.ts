// The audit log: every change with its actor and result.
import { z } from "zod";
import { operation } from "./operation.ts";
import {
  actionFilter,
  createdAfter,
  createdBefore,
  listQuery,
  page,
  tenantFilter,
  tenantId,
  time,
  userId,
} from "./parts.ts";

export const auditEntry = z
  .object({
    id: z.string().describe("Id of the entry; ids sort by time."),
    at: time.describe("Time of the request, in UTC."),
    actor: z
      .object({
        kind: z
          .enum(["admin", "key", "member", "portal", "operator"])
          .describe(
            "The admin key, an API key, a member's token or a portal link. Tenants see `operator` instead of a key of the whole installation.",
          ),
        id: z
          .string()
          .nullable()
          .describe("Id of the key, token or link. Null for the admin key and for `operator`."),
        user: userId.nullable().describe("The member who owns the token. Null otherwise."),
      })
      .describe("The caller."),
    tenant: tenantId.nullable().describe("The affected tenant. Null for the whole installation."),
    action: z
      .string()
      .meta({ description: "Operation id as in this document.", examples: ["endpoints.update"] }),
    target: z
      .record(z.string(), z.string())
      .describe("Ids of the affected objects. `made` is the id of a created object."),
    changes: z.unknown().describe("The requested changes, without secrets."),
    status: z
      .int()
      .nullable()
      .describe("HTTP status of the response. Null if the server stopped before it was known."),
    error_code: z.string().nullable().describe("The error `code`. Null on success."),
    request_id: z.string().describe("Id of the request, as in the log and in error responses."),
    address: z
      .string()
      .nullable()
      .describe(
        "IP address of the connection; behind a proxy, the address of the proxy. Null if it is unknown or belongs to an operator.",
      ),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.output<typeof auditEntry>;

export const auditLog = {
  list: operation({
    method: "GET",
    path: "/api/v1/audit-log",
    summary: "Lists changes and their actors, newest first",
    permission: { scopes: ["admin"], reach: "tenant" },
    query: listQuery({
      tenant: tenantFilter,
      action: actionFilter,
      created_after: createdAfter,
      created_before: createdBefore,
    }),
    answer: { status: 200, schema: page(auditEntry) },
  }),
};
