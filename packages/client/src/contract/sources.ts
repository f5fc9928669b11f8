// Sources: outbox tables and messages of PostgreSQL databases that are published.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

const source = s.component("Source", {
  name: s.sourceName,
  kind: s.choice(["polling", "replication"], "How it is read."),
  state: s.choice(
    ["starting", "running", "failing", "held", "lost"],
    "`failing` is retried; `held` by a row that cannot be published; `lost`: rows may be missing.",
  ),
  error: s.nullableText("Why it does not go on. Null while it does."),
  held_row: s.nullableText("The row that holds it: its id, or a position in the log. Null otherwise."),
  position: s.nullableText("Everything up to this position is stored. Null before the first."),
  events: s.int("Events published from it."),
  lag_seconds: s.nullable(
    z.number(),
    "Everything that was committed this many seconds ago is stored. Null before it was read to its end.",
  ),
  lag_bytes: s.nullableInt("Write-ahead log that its replication slot retains. Null without a slot."),
  seen_at: s.nullableTime("When a process last followed it, in UTC. Null if none has."),
});
export type Source = z.output<typeof source>;

const path = "/api/v1/sources/{source}";
const managing: Permission = { scopes: ["admin"], reach: "installation" };
const change = {
  permission: managing,
  response: { status: 204, schema: null },
  errors: { 404: ["source_not_found"], 409: ["source_not_stopped"] },
} as const;

export const sources = {
  list: operation("GET", "/api/v1/sources", {
    summary: "Lists all sources with their state and lag, by name",
    permission: { scopes: ["deliveries:read"], reach: "installation" },
    response: {
      status: 200,
      schema: z.object({
        data: s.list(source, "All sources."),
        next_cursor: z.null().describe("Always null."),
      }),
    },
  }),
  skip: operation("POST", `${path}/skip`, {
    summary: "Skips the row that holds a source, for good",
    ...change,
  }),
  reset: operation("POST", `${path}/reset`, {
    summary: "Lets a lost source continue",
    remark: "Rows that were written before are not published.",
    ...change,
  }),
  delete: operation("DELETE", path, {
    summary: "Deletes a source that is no longer configured, with its position",
    ...change,
  }),
};
