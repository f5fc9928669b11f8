import type { AuditEntry } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";
import type { Principal } from "../../principal.ts";

type Given = Awaited<ReturnType<Posthorn["auditLog"]["list"]>>["data"][number];

/** An entry of the audit log as the API shows it; to a tenant, who runs the installation is only "the operator". */
export function presentAuditEntry(entry: Given, { tenant }: Principal): Sent<AuditEntry> {
  const isOperator = entry.actorKind !== "member" && entry.actorTenant === null;
  const isShown = tenant === null || !isOperator;
  return {
    id: entry.id,
    at: entry.at,
    actor: isShown
      ? { kind: entry.actorKind, id: entry.actorId, user: entry.actorUser }
      : { kind: "operator", id: null, user: null },
    tenant: entry.tenant,
    action: entry.action,
    target: entry.target,
    changes: entry.changes,
    status: entry.status,
    error_code: entry.errorCode,
    request_id: entry.requestId,
    address: isShown ? entry.address : null,
  };
}
