// The audit log: who changed what, and what came of it.
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
    at: time.describe("When it was asked for, in UTC."),
    actor: z
      .object({
        kind: z
          .enum(["admin", "key", "member", "portal", "operator"])
          .describe(
            "The admin key, a key, a member's token, or a portal link. `operator`: a tenant is not told which key of the whole installation it was.",
          ),
        id: z
          .string()
          .nullable()
          .describe("The key's, token's or link's id; null for the admin key and the operator."),
        user: userId.nullable().describe("The member whose token it was; null otherwise."),
      })
      .describe("Who asked for it."),
    tenant: tenantId.nullable().describe("Whom it concerned; null: the whole installation."),
    action: z
      .string()
      .meta({ description: "The operation, by its id in this document.", examples: ["endpoints.update"] }),
    target: z
      .record(z.string(), z.string())
      .describe("The ids it was about; `made` is that of what it made."),
    changes: z.unknown().describe("What was asked for, without secrets."),
    status: z.int().nullable().describe("The answer's status; null: the server died before it knew."),
    error_code: z.string().nullable().describe("The `code` it was refused with; null when it worked."),
    request_id: z.string().describe("Of the request, as in the log and in a refusal."),
    address: z
      .string()
      .nullable()
      .describe(
        "IP address that the connection came from: behind a proxy, the proxy's. Null: not known, or the operator's.",
      ),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.output<typeof auditEntry>;

export const auditLog = {
  list: operation({
    method: "GET",
    path: "/api/v1/audit-log",
    summary: "Lists what was changed and by whom, newest first",
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
