// Compares what the receiver saw with what the database wrote down. The receiver is the first witness.
import { formatId } from "@posthorn/wire";
import type pg from "pg";
import { eventually } from "./eventually.ts";
import type { TestReceiver } from "./test-receiver.ts";

export interface Audit {
  readonly deliveries: number;
  readonly attempts: number;
  /** Attempts recorded as unknown: what a dead worker held. */
  readonly unknown: number;
  /** Answers of 2xx beyond the first of each delivery. */
  readonly duplicates: number;
  /** Deliveries with more of those than attempts recorded as unknown. */
  readonly unexplained: readonly string[];
  /** Deliveries with more requests than attempts. */
  readonly unrecorded: readonly string[];
  /** Deliveries whose attempts are not numbered 1 … n. */
  readonly misnumbered: readonly string[];
  /** Deliveries that did not end in success, with their state. */
  readonly unfinished: readonly string[];
}

export async function audit(pool: pg.Pool, receiver: TestReceiver, schema = "posthorn"): Promise<Audit> {
  const { rows } = await pool.query<Row>(auditStatement.replaceAll("posthorn.", `"${schema}".`));
  const received = new Map<string, number>();
  for (const { deliveryId } of receiver.arrivals)
    received.set(deliveryId, (received.get(deliveryId) ?? 0) + 1);
  const extras = new Map(
    rows.map(({ id }) => [id, Math.max(0, receiver.answered(formatId("dlv", id)).length - 1)]),
  );
  const idsOf = (condition: (row: Row) => boolean) => rows.filter(condition).map(({ id }) => id);
  return {
    deliveries: rows.length,
    attempts: rows.reduce((sum, row) => sum + row.attempts, 0),
    unknown: rows.reduce((sum, row) => sum + row.unknown, 0),
    duplicates: [...extras.values()].reduce((sum, extra) => sum + extra, 0),
    unexplained: idsOf(({ id, unknown }) => (extras.get(id) as number) > unknown),
    unrecorded: idsOf(({ id, attempts }) => (received.get(formatId("dlv", id)) ?? 0) > attempts),
    misnumbered: idsOf(({ attempts, numbers }) => numbers.join() !== upTo(attempts).join()),
    unfinished: rows.filter(({ state }) => state !== "success").map(({ id, state }) => `${id} ${state}`),
  };
}

/** Waits until the queue and the outbox are empty. */
export async function nothingOwed(pool: pg.Pool, schema = "posthorn", limitMs?: number): Promise<void> {
  const text = owedStatement.replaceAll("posthorn.", `"${schema}".`);
  await eventually(
    "the queue and the outbox are empty",
    async () => {
      const { rows } = await pool.query<{ owed: number }>(text);
      return rows[0]?.owed === 0;
    },
    limitMs,
  );
}

interface Row {
  id: string;
  state: string;
  attempts: number;
  unknown: number;
  numbers: number[];
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const auditStatement = `
select d.id, d.state, d.attempts,
  coalesce(a.unknown, 0) as unknown,
  coalesce(a.numbers, '{}') as numbers
from posthorn.delivery_states d
left join lateral (
  select array_agg(number order by number) as numbers,
    count(*) filter (where error = 'unknown')::integer as unknown
  from posthorn.attempts
  where delivery_id = d.id
) a on true
`;

const owedStatement = `
select ((select count(*) from posthorn.queue) + (select count(*) from posthorn.outbox))::integer as owed
`;
