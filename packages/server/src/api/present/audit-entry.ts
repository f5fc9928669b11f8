import type { AuditEntry } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../implement.ts";

type Given = Awaited<ReturnType<Posthorn["auditLog"]["list"]>>["data"][number];

/** An entry of the audit log as the API shows it. */
export function presentAuditEntry(entry: Given): Sent<AuditEntry> {
  return {
    id: entry.id,
    at: entry.at,
    actor: { kind: entry.actorKind, id: entry.actorId, user: entry.actorUser },
    tenant: entry.tenant,
    action: entry.action,
    target: entry.target,
    changes: entry.changes,
    status: entry.status,
    error_code: entry.errorCode,
    request_id: entry.requestId,
    address: entry.address,
  };
}
