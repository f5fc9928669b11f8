// Replaces posthorn.now() by a clock that tests can move, and with it every schedule and lease in the database.
import type { Database } from "../database.ts";
import { run } from "../query.ts";
import { statement } from "../sql.ts";
import { acquireMigrationLock } from "./migrations.ts";

/** Several instances on one database may install it at the same time. */
export async function installTestClock(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    await acquireMigrationLock(tx, db.schema);
    for (const part of [createTable, firstRow, replaceNow]) await tx.query(part);
  });
}

const createTable = statement(
  "create test clock",
)`create table if not exists posthorn.test_clock (offset_ms double precision not null)`;

const firstRow = statement(
  "start test clock",
)`insert into posthorn.test_clock (offset_ms) select 0 where not exists (select from posthorn.test_clock)`;

const replaceNow = statement("replace now")`
create or replace function posthorn.now() returns timestamptz
language sql stable parallel safe
as $$ select now() + (select offset_ms from posthorn.test_clock) * interval '1 millisecond' $$
`;

export const advanceTestClock = run<[byMs: number]>(
  "advance test clock",
)`update posthorn.test_clock set offset_ms = offset_ms + $1::double precision`;
