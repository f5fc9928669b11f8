// The state of the installation, for operators.
import { z } from "zod";
import { operation } from "./operation.ts";
import { endpointId, tenantId, time } from "./parts.ts";

const migration = z.object({
  version: z.int().describe("Number of the migration."),
  name: z.string().describe("Name of the migration."),
});

const worker = z
  .object({
    id: z.int().describe("Worker id, as in attempts. A process that was declared dead gets a new one."),
    name: z.string().describe("Host and process id, as `host:pid`."),
    delivers: z.boolean().describe("False for a process with the role `api`, which sends nothing."),
    leads: z.boolean().describe("Whether it is the leader, which maintains the tables."),
    started_at: time.describe("When it started, in UTC."),
    last_seen_at: time.describe("When it last renewed its lease, in UTC."),
    is_alive: z
      .boolean()
      .describe("False if its lease has expired and other workers will take over its work."),
    utilisation: z.number().describe("Utilisation in the last second, from 0 to 1."),
  })
  .meta({ id: "Worker" });

const troubled = z
  .object({
    endpoint_id: endpointId,
    tenant: tenantId,
    since: time.nullable().describe("When the trouble started. Null if it is unknown."),
    reason: z.string().nullable().describe("The last error, or why it was disabled."),
    consecutive_failures: z.int().describe("Consecutive failures since the last success."),
    circuit: z.enum(["closed", "open", "half_open"]).describe("State of the circuit."),
    probe_at: time.nullable().describe("When an open circuit is probed next. Null otherwise."),
  })
  .meta({ id: "TroubledEndpoint" });

const troubledList = (description: string) =>
  z
    .object({
      data: z.array(troubled).describe("Up to 100 endpoints, longest in trouble first."),
      is_complete: z.boolean().describe("False if there are more."),
    })
    .describe(description);

const system = z
  .object({
    version: z.string().describe("Version of the server."),
    has_sink: z.boolean().describe("Whether the server has `/sink/{id}`, a built-in test receiver."),
    schema: z
      .object({
        version: z.int().describe("Number of the last applied migration."),
        applied: z
          .array(migration.extend({ applied_at: time.describe("When it was applied, in UTC.") }))
          .describe("Applied migrations, oldest first."),
        pending: z.array(migration).describe("Migrations that are not applied yet."),
      })
      .describe("The migrations of the database."),
    workers: z
      .object({
        data: z.array(worker).describe("Up to 100 processes, newest first."),
        is_complete: z.boolean().describe("False if there are more."),
      })
      .describe("The processes of the installation."),
    owed: z
      .object({
        count: z.int().describe("Deliveries that are not finished."),
        is_exact: z.boolean().describe("False if `count` is an estimate, above 10000."),
        oldest_due_age_seconds: z
          .number()
          .describe(
            "How long the most overdue delivery has been due, in seconds. Deliveries held by their own endpoint do not count.",
          ),
        oldest_age_seconds: z
          .number()
          .describe(
            "Age of the oldest unfinished delivery in seconds, including those of disabled endpoints.",
          ),
        outbox: z.int().describe("Events whose deliveries are not created yet, counted up to 10000."),
        held: z
          .object({
            circuit: z.int().describe("Held by an open circuit."),
            throttle: z.int().describe("Held because the receiver asked for a pause."),
            limit: z.int().describe("Held by the endpoint's limits."),
          })
          .describe("Due deliveries that are held by their own endpoint, counted up to 10000."),
      })
      .describe("The backlog."),
    open_circuits: troubledList("Endpoints whose circuit is open or half-open."),
    failing_endpoints: troubledList("Active endpoints that have failed since their last success."),
    disabled_endpoints: troubledList("Endpoints that were disabled after failures."),
    retention: z
      .object({
        retention_days: z.int().describe("Days for finished deliveries, their attempts and events."),
        dead_retention_days: z
          .int()
          .nullable()
          .describe("Days for dead letters. Null if they are kept until deleted."),
        idempotency_days: z.int().describe("Days for idempotency keys."),
        audit_days: z.int().describe("Days for the audit log."),
      })
      .describe("Retention periods."),
  })
  .meta({ id: "System" });
export type System = z.output<typeof system>;

export const installation = {
  get: operation({
    method: "GET",
    path: "/api/v1/system",
    summary: "Returns the state of the installation: workers, backlog, failing endpoints and retention",
    permission: { scopes: ["deliveries:read"], reach: "installation" },
    answer: { status: 200, schema: system },
  }),
};
