// The audit log: who changed what, and what came of it.
import { z } from "zod";
import { operation } from "./operation.ts";
import { listQuery, page, tenantId, textFilter, time, timeFilter, userId } from "./parts.ts";

export const auditEntry = z
  .object({
    id: z.string(),
    at: time,
    actor: z.object({
      kind: z
        .enum(["admin", "key", "member", "operator"])
        .describe("`operator`: a tenant is not told which key of the whole installation it was."),
      id: z.string().nullable().describe("The key's or token's id; null for the admin key and the operator."),
      user: userId.nullable(),
    }),
    tenant: tenantId.nullable().describe("Whom it concerned; null: the whole installation."),
    action: z.string().meta({ examples: ["endpoints.update"] }),
    target: z
      .record(z.string(), z.string())
      .describe("The ids it was about; `made` is that of what it made."),
    changes: z.unknown().describe("What was asked for, without secrets."),
    status: z.int().nullable().describe("The answer's status; null: the server died before it knew."),
    error_code: z.string().nullable(),
    request_id: z.string(),
    address: z.string().nullable().describe("Null: not known, or the operator's."),
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
      tenant: textFilter,
      action: textFilter,
      created_after: timeFilter,
      created_before: timeFilter,
    }),
    answer: { status: 200, schema: page(auditEntry) },
  }),
};
