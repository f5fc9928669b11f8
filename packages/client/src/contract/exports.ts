// Exports: the rows of a list as a stream, with the filters of the list.
import { z } from "zod";
import { auditEntry } from "./audit-log.ts";
import { attempt, delivery, deliveryFilters } from "./deliveries.ts";
import { event, eventFilters } from "./events.ts";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

export const EXPORT_FORMATS = ["ndjson", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const format = z
  .enum(EXPORT_FORMATS)
  .default("ndjson")
  .describe(
    "`ndjson`: one JSON object per line. `csv`: a header and one line per row, with a column for each field of a nested object.",
  );

const REMARK =
  "The response ends without its last chunk if an error occurs, so that a truncated export is an error of the connection.";

function exportOf<const Name extends string, Row extends z.ZodRawShape, const Filters extends z.ZodRawShape>(
  name: Name,
  what: string,
  permission: Permission,
  row: z.ZodObject<Row>,
  filters: Filters,
) {
  return operation("GET", `/api/v1/export/${name}`, {
    summary: `Exports ${what}, newest first, as NDJSON or CSV`,
    remark: REMARK,
    permission,
    query: z.object({ ...filters, format }),
    response: { status: 200, schema: row, isExport: true },
  });
}

const reading: Permission = { scopes: ["deliveries:read"], reach: "tenant" };
const { state: _state, ...deadLetterFilters } = deliveryFilters;
const { reason: _reason, ...attemptFilters } = deadLetterFilters;

export const exportedAttempt = s.component("ExportedAttempt", {
  delivery_id: s.deliveryId,
  event_id: s.eventId,
  endpoint_id: s.endpointId,
  tenant: s.tenantId,
  event_type: s.eventType,
  ...attempt.shape,
});

export const exports = {
  events: exportOf("events", "events with their data", reading, event, eventFilters),
  deliveries: exportOf("deliveries", "deliveries", reading, delivery, deliveryFilters),
  attempts: exportOf(
    "attempts",
    "attempts, those of the newest delivery first",
    reading,
    exportedAttempt,
    attemptFilters,
  ),
  deadLetters: exportOf("dead-letters", "dead letters", reading, delivery, deadLetterFilters),
  auditLog: exportOf("audit-log", "the audit log", { scopes: ["admin"], reach: "tenant" }, auditEntry, {
    tenant: s.tenantFilter,
    action: s.actionFilter,
    created_after: s.createdAfter,
    created_before: s.createdBefore,
  }),
};
