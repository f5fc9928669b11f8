// Records every operation that changes something in the audit log.
import type { RecordChange } from "posthorn/internal";
import type { Exchange } from "./exchange.ts";
import { problemOf } from "./problem.ts";

export type Audit = <Result>(
  exchange: Exchange,
  action: string,
  body: unknown,
  change: () => Promise<Result>,
) => Promise<Result>;

export function createAudit(record: RecordChange): Audit {
  return async (exchange, action, changes, make) => {
    const { params, principal } = exchange;
    const named = (changes as { tenant?: unknown } | undefined)?.tenant;
    const tenant = params.tenant ?? principal.tenant ?? named;
    const actor = actorOf(exchange, action);
    return await record({ actor, action, tenant, target: params, changes }, make, problemOf);
  };
}

function actorOf(
  { request, principal, requestId }: Exchange,
  action: string,
): Parameters<RecordChange>[0]["actor"] {
  if (principal.kind === "anonymous")
    throw new Error(`An anonymous caller may not change anything: ${action}.`);
  return {
    actorKind: principal.kind,
    actorId: principal.id,
    actorUser: principal.user,
    actorTenant: principal.tenant,
    requestId,
    address: request.socket.remoteAddress ?? null,
  };
}
