// The installation as its operators see it.
import { z } from "zod";
import { operation } from "./operation.ts";
import { endpointId, tenantId, time } from "./parts.ts";

const migration = z.object({
  version: z.int().describe("Number of the migration."),
  name: z.string().describe("What it does."),
});

const worker = z
  .object({
    id: z.int().describe("Its number, as attempts have it. A process that was taken for dead gets another."),
    name: z.string().describe("Host and process id, as `host:pid`."),
    delivers: z.boolean().describe("False: a process of the role `api`, which sends nothing."),
    leads: z.boolean().describe("Whether it tends the tables: one process does."),
    started_at: time.describe("When it came, in UTC."),
    last_seen_at: time.describe("When it renewed its lease last, in UTC."),
    is_alive: z
      .boolean()
      .describe("False: its lease has ended, and the others are about to take over its work."),
    utilisation: z.number().describe("How busy it was in the last second, from 0 to 1."),
  })
  .meta({ id: "Worker" });

const troubled = z
  .object({
    endpoint_id: endpointId,
    tenant: tenantId,
    since: time.nullable().describe("Since when; null where that is not known."),
    reason: z.string().nullable().describe("What went wrong last, or why it was disabled."),
    consecutive_failures: z.int().describe("Failures in a row since its last success."),
    circuit: z.enum(["closed", "open", "half_open"]).describe("As its endpoint shows it."),
    probe_at: time.nullable().describe("When an open circuit is tried next; null otherwise."),
  })
  .meta({ id: "TroubledEndpoint" });

const troubledList = (description: string) =>
  z
    .object({
      data: z.array(troubled).describe("Up to 100, those in trouble for longest first."),
      is_complete: z.boolean().describe("False: there are more."),
    })
    .describe(description);

const system = z
  .object({
    version: z.string().describe("Of the server that answers."),
    has_sink: z
      .boolean()
      .describe("Whether that server has `/sink/{id}`, a receiver of its own to try things with."),
    schema: z
      .object({
        version: z.int().describe("Of the database: the number of its last migration."),
        applied: z
          .array(migration.extend({ applied_at: time.describe("When it was applied, in UTC.") }))
          .describe("Those that were applied, the first one first."),
        pending: z.array(migration).describe("Those that this server has and the database lacks."),
      })
      .describe("The migrations of the database."),
    workers: z
      .object({
        data: z.array(worker).describe("Up to 100, the newest first."),
        is_complete: z.boolean().describe("False: there are more."),
      })
      .describe("The processes of the installation."),
    owed: z
      .object({
        count: z.int().describe("Deliveries that have not ended."),
        is_exact: z.boolean().describe("False: an estimate, because there are more than 10000."),
        oldest_due_age_seconds: z
          .number()
          .describe(
            "For how long the most overdue one could have been sent and was not; what its own endpoint holds up is left out.",
          ),
        oldest_age_seconds: z
          .number()
          .describe("Age of the oldest event that somebody is owed, those of disabled endpoints included."),
        outbox: z.int().describe("Events that wait for their deliveries to be made, counted up to 10000."),
        held: z
          .object({
            circuit: z.int().describe("By an open circuit."),
            throttle: z.int().describe("By a receiver that asked for a pause."),
            limit: z.int().describe("By the endpoint's own limits."),
          })
          .describe("What is due and waits for its own endpoint, counted up to 10000."),
      })
      .describe("What is still to be delivered."),
    open_circuits: troubledList("Endpoints whose circuit is open or half-open."),
    failing_endpoints: troubledList("Active endpoints that have failed since their last success."),
    disabled_endpoints: troubledList("Endpoints that were disabled for their failures."),
    retention: z
      .object({
        retention_days: z.int().describe("Of finished deliveries, their attempts and events."),
        dead_retention_days: z
          .int()
          .nullable()
          .describe("Of dead letters; null: until somebody deletes them."),
        idempotency_days: z.int().describe("Of idempotency keys."),
        audit_days: z.int().describe("Of the audit log."),
      })
      .describe("How long things are kept, in days."),
  })
  .meta({ id: "System" });
export type System = z.output<typeof system>;

export const installation = {
  get: operation({
    method: "GET",
    path: "/api/v1/system",
    summary: "Shows the installation: workers, what is owed, endpoints in trouble, settings",
    permission: { scopes: ["deliveries:read"], reach: "installation" },
    answer: { status: 200, schema: system },
  }),
};
