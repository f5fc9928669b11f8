// The list of reasons is complete: it has what the views return, and the reference page explains each.
import { readFileSync } from "node:fs";
import { WAIT_REASONS } from "@posthorn/wire";
import { expect, test } from "vitest";

const migrations = "packages/posthorn/src/storage/migrations";
const read = (path: string) => readFileSync(path, "utf8");

test("the reasons of the views, and the mode of delivery, are those of the list", () => {
  const sql = read(`${migrations}/0004-history-and-retention.sql`);
  const views = sql.slice(
    sql.indexOf("create view posthorn.endpoint_waits"),
    sql.indexOf("-- The worker that runs maintenance"),
  );
  const named = [...views.matchAll(/then '(\w+)'/g)].map(([, reason]) => reason);
  const [, limits = ""] =
    /limited_by in \(([^)]*)\)/.exec(read(`${migrations}/0003-events-and-queue.sql`)) ?? [];
  const limiting = [...limits.matchAll(/'(\w+)'/g)].map(([, reason]) => reason);
  expect([...new Set([...named, ...limiting, "sending_off"])].toSorted()).toEqual(WAIT_REASONS.toSorted());
});

test.each(WAIT_REASONS)("the reference explains %s", (reason) => {
  expect(read("docs/reference/deliveries.md")).toContain(`| \`${reason}\` | `);
});
