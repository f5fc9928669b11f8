import type { System } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { VERSION } from "../../../version.ts";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["system"]["get"]>>;
type Troubled = Given["openCircuits"];

/** The installation as the API shows it. */
export function presentSystem(
  { schema, workers, owed, retention, ...endpoints }: Given,
  hasSink: boolean,
): Sent<System> {
  return {
    version: VERSION,
    has_sink: hasSink,
    schema: {
      version: schema.version,
      applied: schema.applied.map(({ version, name, appliedAt }) => ({
        version,
        name,
        applied_at: appliedAt,
      })),
      pending: schema.pending,
    },
    workers: { data: workers.data.map(presentWorker), is_complete: workers.isComplete },
    owed: {
      count: owed.count,
      is_exact: owed.isExact,
      oldest_due_age_seconds: owed.oldestDueAgeSeconds,
      oldest_age_seconds: owed.oldestAgeSeconds,
      outbox: owed.outbox,
      held: owed.held,
    },
    open_circuits: presentTroubled(endpoints.openCircuits),
    failing_endpoints: presentTroubled(endpoints.failingEndpoints),
    disabled_endpoints: presentTroubled(endpoints.disabledEndpoints),
    retention: {
      retention_days: retention.retentionDays,
      dead_retention_days: retention.deadRetentionDays,
      idempotency_days: retention.idempotencyDays,
      audit_days: retention.auditDays,
    },
  };
}

function presentWorker(worker: Given["workers"]["data"][number]): Sent<System>["workers"]["data"][number] {
  return {
    id: worker.id,
    name: worker.name,
    delivers: worker.delivers,
    leads: worker.leads,
    started_at: worker.startedAt,
    last_seen_at: worker.lastSeenAt,
    is_alive: worker.isAlive,
    utilisation: worker.utilisation,
  };
}

function presentTroubled({ data, isComplete }: Troubled): Sent<System>["open_circuits"] {
  const shown = data.map((endpoint) => ({
    endpoint_id: endpoint.endpointId,
    tenant: endpoint.tenant,
    since: endpoint.since,
    reason: endpoint.reason,
    consecutive_failures: endpoint.consecutiveFailures,
    circuit: endpoint.circuit,
    probe_at: endpoint.probeAt,
  }));
  return { data: shown, is_complete: isComplete };
}
