// The state of the installation, for operators.
import { WAIT_REASONS } from "@posthorn/wire";
import { z } from "zod";
import { operation } from "./operation.ts";
import * as s from "./parts.ts";

const migration = z.object({
  version: s.int("Number of the migration."),
  name: s.text("Name of the migration."),
});

const worker = s.component("Worker", {
  id: s.int("Worker id, as in attempts. A process that was declared dead gets a new one."),
  name: s.text("Host and process id, as `host:pid`."),
  delivers: s.flag("False for a process with the role `api`, which sends nothing."),
  leads: s.flag("Whether it is the leader, which maintains the tables."),
  started_at: s.time.describe("When it started, in UTC."),
  last_seen_at: s.time.describe("When it last renewed its lease, in UTC."),
  is_alive: s.flag("False if its lease has expired and other workers will take over its work."),
  utilisation: z.number().describe("Utilisation in the last second, from 0 to 1."),
});

const troubled = s.component("TroubledEndpoint", {
  endpoint_id: s.endpointId,
  tenant: s.tenantId,
  since: s.nullableTime("When the trouble started. Null if it is unknown."),
  reason: s.nullableText("The last error, or why it was disabled."),
  consecutive_failures: s.int("Consecutive failures since the last success."),
  circuit: s.choice(["closed", "open", "half_open"], "State of the circuit."),
  probe_at: s.nullableTime("When an open circuit is probed next. Null otherwise."),
});

const troubledList = (description: string) =>
  s.group(description, {
    data: s.list(troubled, "Up to 100 endpoints, longest in trouble first."),
    is_complete: s.flag("False if there are more."),
  });

const system = s.component("System", {
  version: s.text("Version of the server."),
  has_sink: s.flag("Whether the server has `/sink/{id}`, a built-in test receiver."),
  schema: s.group("The migrations of the database.", {
    version: s.int("Number of the last applied migration."),
    applied: s.list(
      migration.extend({ applied_at: s.time.describe("When it was applied, in UTC.") }),
      "Applied migrations, oldest first.",
    ),
    pending: s.list(migration, "Migrations that are not applied yet."),
  }),
  workers: s.group("The processes of the installation.", {
    data: s.list(worker, "Up to 100 processes, newest first."),
    is_complete: s.flag("False if there are more."),
  }),
  backlog: s.group("The backlog. `in_flight`, `due` and `waiting` add up to `count`, except for rounding.", {
    count: s.int("Deliveries that are not finished."),
    is_exact: s.flag("False if there are more than 10000: `count` and its parts are then estimates."),
    in_flight: s.int("Being sent."),
    due: s.int("Waiting for nothing: sent as soon as a worker has a free slot."),
    overdue: s.int("Should have been sent, or their endpoint probed, more than a minute ago."),
    waiting: z
      .record(z.string(), z.int())
      .describe(
        `Number of waiting deliveries by what they wait for, the \`reason\` of \`waits_for\`: ${WAIT_REASONS.join(", ")}.`,
      ),
    oldest_due_age_seconds: z
      .number()
      .describe(
        "How long the most overdue delivery has been due, in seconds. Deliveries that wait do not count.",
      ),
    oldest_age_seconds: z
      .number()
      .describe("Age of the oldest unfinished delivery in seconds, including those of disabled endpoints."),
    outbox: s.int("Events whose deliveries are not created yet, counted up to 10000."),
    rejected: s.int(
      "Events that the catalogue rejected and nobody has released or discarded, counted up to 10000.",
    ),
  }),
  open_circuits: troubledList("Endpoints whose circuit is open or half-open."),
  failing_endpoints: troubledList("Active endpoints that have failed since their last success."),
  disabled_endpoints: troubledList("Endpoints that were disabled after failures."),
  retention: s.group("Retention periods.", {
    retention_days: s.int("Days for finished deliveries, their attempts and events."),
    dead_retention_days: s.nullableInt("Days for dead letters. Null if they are kept until deleted."),
    idempotency_days: s.int("Days for idempotency keys."),
    audit_days: s.int("Days for the audit log."),
  }),
});
export type System = z.output<typeof system>;

export const installation = {
  get: operation("GET", "/api/v1/system", {
    summary: "Returns the state of the installation: workers, backlog, failing endpoints and retention",
    permission: { scopes: ["deliveries:read"], reach: "installation" },
    response: { status: 200, schema: system },
  }),
};
