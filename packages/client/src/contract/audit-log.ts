// The audit log: every change with its actor and result.
import { z } from "zod";
import { operation } from "./operation.ts";
import * as s from "./parts.ts";

export const auditEntry = s.component("AuditEntry", {
  id: s.text("Id of the entry; ids sort by time."),
  at: s.time.describe("Time of the request, in UTC."),
  actor: s.group("The caller.", {
    kind: s.choice(
      ["admin", "key", "member", "portal", "library", "operator", "system"],
      "The admin key, an API key, a member's token, a portal link, code that uses the library, or `system` for a consequence of another change. Tenants see `operator` instead of a key of the whole installation.",
    ),
    id: s.nullableText(
      "Id of the key, token or link, or the name that the code gave itself. Null for the admin key, `operator` and `system`.",
    ),
    user: s.nullable(s.userId, "The member who used a token or a portal link. Null otherwise."),
  }),
  tenant: s.nullable(s.tenantId, "The affected tenant. Null for the whole installation."),
  action: z
    .string()
    .meta({ description: "Operation id as in this document.", examples: ["endpoints.update"] }),
  target: s.textMap("Ids of the affected objects. `created` is the id of a created object."),
  changes: z.unknown().describe("The requested changes, without secrets."),
  status: s.nullableInt("HTTP status of the response. Null if the server stopped before it was known."),
  error_code: s.nullableText("The error `code`. Null on success."),
  affected: s.nullableInt(
    "How many dead letters were deleted, or rejected events released or discarded, by a filter. Null for other operations.",
  ),
  request_id: s.nullableText(
    "Id of the request, as in the log and in error responses. Null for a change through the library.",
  ),
  address: s.nullableText(
    "IP address of the connection; behind a proxy, the address of the proxy. Null if it is unknown or belongs to an operator.",
  ),
});
export type AuditEntry = z.output<typeof auditEntry>;

export const auditLog = {
  list: operation("GET", "/api/v1/audit-log", {
    summary: "Lists changes and their actors, newest first",
    permission: { scopes: ["admin"], reach: "tenant" },
    query: s.listQuery({
      tenant: s.tenantFilter,
      action: s.actionFilter,
      created_after: s.createdAfter,
      created_before: s.createdBefore,
    }),
    response: { status: 200, schema: s.page(auditEntry) },
  }),
};
