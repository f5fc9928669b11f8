// Replaces posthorn.now() by a clock that tests can move, and with it every schedule and lease in the database.
import type { Queryable } from "../database.ts";
import { run } from "../query.ts";
import { statement } from "../sql.ts";

export async function installTestClock(db: Queryable): Promise<void> {
  for (const part of [createTable, firstRow, replaceNow]) await db.query(part);
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
