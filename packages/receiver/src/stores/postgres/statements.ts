// All statements of the store: calls of the functions in migrations/, and plain statements on its tables.
import type { Message, MessageKey } from "../../model.ts";
import type {
  AcceptOptions,
  AcceptResult,
  Claim,
  ClaimOptions,
  ClaimResult,
  DeadLetter,
  Failure,
} from "../../store.ts";
import { type Query, type Row, sqlState, type Value } from "./database.ts";
import { inSchema } from "./migrations.ts";
import {
  briefValues,
  claimOf,
  content,
  contentParameters,
  contentValues,
  deadLetterOf,
  keyValues,
  optionValues,
  subjectValues,
  text,
} from "./rows.ts";

export type Statements = ReturnType<typeof statementsIn>;

/** A message that the current transaction holds until it ends. */
export interface Hold {
  /** The transaction's id. */
  readonly xid: string;
  /** The position of the message's row during the transaction. */
  readonly place: string;
  readonly token: string;
}

const MAX_ERROR_LENGTH = 1_000;

export function statementsIn(schema: string) {
  const claimText = inSchema(claimStatement, schema);
  const renewText = inSchema(renewStatement, schema);
  const completeText = inSchema(completeStatement, schema);
  const holdText = inSchema(holdStatement, schema);
  const failText = inSchema(failStatement, schema);
  const acceptText = inSchema(acceptStatement, schema);
  const claimDueText = inSchema(claimDueStatement, schema);
  const claimOneText = inSchema(claimOneStatement, schema);
  const listText = inSchema(listStatement, schema);
  const countText = inSchema(countStatement, schema);
  const requeueText = inSchema(requeueStatement, schema);
  const undoRequeueText = inSchema(undoRequeueStatement, schema);
  const discardText = inSchema(discardStatement, schema);
  const pruneText = inSchema(pruneStatement, schema);

  return {
    async claim(query: Query, message: Message, terms: ClaimOptions): Promise<ClaimResult> {
      const [row] = await query(claimText, [...contentValues(message), ...optionValues(terms)]);
      return claimResultOf(row as Row, message);
    },

    async claimInTransaction(query: Query, message: Message, terms: ClaimOptions) {
      const [, ...others] = optionValues(terms);
      const [row] = await query(claimText, [...briefValues(message), null, ...others]);
      const result = claimResultOf(row as Row, message);
      return { result, hold: row as unknown as Hold };
    },

    /** `wasHeld`: `hold` held it until now, so no other process could claim it even if its lease expired. */
    async renew(
      query: Query,
      { message, token }: Claim,
      leaseMs: number,
      { wasHeld }: { readonly wasHeld: boolean },
    ): Promise<boolean> {
      const [subject = null] = subjectValues(message);
      const [row] = await query(renewText, [...keyValues(message), token, subject, leaseMs, wasHeld]);
      return row?.kept === true;
    },

    async complete(query: Query, { message, token }: Claim): Promise<boolean> {
      const [row] = await query(completeText, [...keyValues(message), token, ...subjectValues(message)]);
      return row?.done === true;
    },

    /** Holds it until the end of the transaction; null if the lease was lost. */
    async hold(query: Query, { message, token }: Claim): Promise<Hold | null> {
      const [subject = null] = subjectValues(message);
      const [row] = await query(holdText, [...keyValues(message), token, subject]);
      return row?.xid === null ? null : (row as unknown as Hold);
    },

    /** The completion. Its values all come from PostgreSQL and are inlined, because it is sent with the commit. */
    finish({ xid, place, token }: Hold): string {
      const values = [xid, place, token].map((value) => `'${value}'`).join(", ");
      return inSchema(`select posthorn_receiver.finish(${values}) as xid`, schema);
    },

    /** False also if the transaction is aborted, because PostgreSQL cannot tell then. */
    async hasEnded(query: Query, { xid }: Hold): Promise<boolean> {
      const asked = query("select pg_current_xact_id_if_assigned()::text as xid", []);
      return await asked.then(
        ([row]) => row?.xid !== xid,
        () => false,
      );
    },

    /**
     * With a token for the owner of the claim; with a window after a rolled-back claim. Returns false also if a connection that was
     * abandoned still locks the row.
     */
    async fail(
      query: Query,
      message: Message,
      by: { readonly token: string } | AcceptOptions,
      failure: Failure,
    ): Promise<boolean> {
      const { error, next } = failure;
      const values: Value[] = [
        ...(next.kind === "release" ? briefValues(message) : contentValues(message)),
        "token" in by ? by.token : null,
        text(error.slice(0, MAX_ERROR_LENGTH)),
        ({ release: "claimable", retry: "waiting", dead: "dead" } as const)[next.kind],
        next.kind === "retry" ? next.afterMs : null,
        "token" in by ? null : by.windowMs,
      ];
      const [row] = await query(failText, values).catch(whenNotLocked([]));
      return row?.kept === true;
    },

    async accept(query: Query, message: Message, { windowMs }: AcceptOptions): Promise<AcceptResult> {
      const [row] = await query(acceptText, [...contentValues(message), windowMs]);
      const kind = row?.kind as AcceptResult["kind"];
      return kind === "running" ? { kind, retryAfterMs: row?.wait as number } : { kind };
    },

    /** `isAll` is false if there are more messages to examine, although none of those examined can be claimed now. */
    async claimDue(query: Query, limit: number, { leaseMs, order }: ClaimOptions) {
      const rows = await query(claimDueText, [limit, leaseMs, order === null ? null : order.gapWaitMs]);
      const claims = rows.filter(({ id }) => id !== null).map(claimOf);
      return { claims, isAll: claims.length === rows.length };
    },

    async claimOne(query: Query, key: MessageKey, { leaseMs, order }: ClaimOptions): Promise<Claim | null> {
      const gapWaitMs = order === null ? null : order.gapWaitMs;
      const [row] = await query(claimOneText, [...keyValues(key), leaseMs, gapWaitMs]);
      return row === undefined ? null : claimOf(row);
    },

    async listDead(query: Query, limit: number, after: DeadLetter | undefined): Promise<DeadLetter[]> {
      const from =
        after === undefined ? [null, null, null] : [after.diedAt.getTime(), ...keyValues(after.message)];
      return (await query(listText, [limit, ...from])).map(deadLetterOf);
    },

    async countDead(query: Query): Promise<number> {
      const [row] = await query(countText, []);
      return row?.count as number;
    },

    async requeue(query: Query, key: MessageKey): Promise<boolean> {
      return (await query(requeueText, keyValues(key))).length > 0;
    },

    async undoRequeue(query: Query, key: MessageKey): Promise<boolean> {
      return (await query(undoRequeueText, keyValues(key))).length > 0;
    },

    async discard(query: Query, key: MessageKey): Promise<boolean> {
      return (await query(discardText, keyValues(key))).length > 0;
    },

    async prune(query: Query, limit: number, windowMs: number): Promise<number> {
      const [row] = await query(pruneText, [limit, windowMs]);
      return row?.forgotten as number;
    },
  };
}

/** Returns `instead` for the error lock_not_available. */
function whenNotLocked<Result>(instead: Result): (error: unknown) => Result {
  return (error) => {
    if (sqlState(error) === "55P03") return instead;
    throw error;
  };
}

function claimResultOf(row: Row, message: Message): ClaimResult {
  const kind = row.kind as ClaimResult["kind"];
  switch (kind) {
    case "claimed":
      return { kind, claim: { message, token: row.token as string, tries: row.tries as number } };
    case "running":
    case "gap":
      return { kind, retryAfterMs: row.wait as number };
    default:
      return { kind };
  }
}

const claimStatement = `
select c.kind, c.wait, c.token::text as token, c.tries, c.xid, c.place::text as place
from posthorn_receiver.claim(
  ${contentParameters(1)},
  $10::double precision, $11::double precision, $12::double precision
) c
`;

const renewStatement = `
select r.kept
from posthorn_receiver.renew($1::text, $2::text, $3::text::uuid, $4::text, $5::double precision, $6::boolean) r
`;

const completeStatement = `
select c.done
from posthorn_receiver.complete($1::text, $2::text, $3::text::uuid, $4::text, $5::bigint) c
`;

const holdStatement = `
select h.xid, h.place::text as place, $3::text as token
from posthorn_receiver.hold($1::text, $2::text, $3::text::uuid, $4::text) h
`;

const failStatement = `
select f.kept
from posthorn_receiver.fail(
  ${contentParameters(1)},
  $10::text::uuid, $11::text, $12::text, $13::double precision, $14::double precision
) f
`;

const acceptStatement = `
select a.kind, a.wait
from posthorn_receiver.accept(
  ${contentParameters(1)},
  $10::double precision
) a
`;

const claimDueStatement = `
select ${content}, m.token::text as token
from posthorn_receiver.claim_due($1::integer, $2::double precision, $3::double precision) m
`;

const claimOneStatement = `
select ${content}, m.token::text as token
from posthorn_receiver.claim_one($1::text, $2::text, $3::double precision, $4::double precision) m
`;

const listStatement = `
select ${content}, m.error, extract(epoch from m.since)::double precision * 1000 as died
from posthorn_receiver.messages m
where m.state = 'dead'
  and m.body is not null
  and m.ready_at is null
  and (m.since, m.source, m.id) < (
    coalesce(to_timestamp($2::double precision / 1000)::timestamptz(3), 'infinity'),
    coalesce($3::text, ''),
    coalesce($4::text, '')
  )
order by m.since desc, m.source desc, m.id desc
limit $1::integer
`;

const countStatement = `
select count(*)::integer as count
from posthorn_receiver.messages m
where m.state = 'dead'
  and m.body is not null
  and m.ready_at is null
`;

const requeueStatement = `
update posthorn_receiver.messages m
set state = 'waiting',
    since = clock_timestamp(),
    ready_at = clock_timestamp(),
    tries = 0
where m.source = $1::text
  and m.id = $2::text
  and m.state = 'dead'
returning m.id
`;

const undoRequeueStatement = `
update posthorn_receiver.messages m
set state = 'dead',
    since = clock_timestamp(),
    ready_at = null
where m.source = $1::text
  and m.id = $2::text
  and m.state = 'waiting'
returning m.id
`;

const discardStatement = `
select posthorn_receiver.set_done(m.source, m.id)::text as id
from (
  select d.source, d.id
  from posthorn_receiver.messages d
  where d.source = $1::text
    and d.id = $2::text
    and d.state = 'dead'
  for update
) m
`;

// An array, so that the plan uses ctid and never scans the table.
const pruneStatement = `
with messages as (
  delete from posthorn_receiver.messages m
  where m.ctid = any (array (
    select o.ctid
    from posthorn_receiver.messages o
    where o.body is null
      and o.since <= now() - $2::double precision * interval '1 millisecond'
    order by o.since
    limit $1::integer
    for update skip locked
  ))
  returning 1
), subjects as (
  delete from posthorn_receiver.subjects s
  where s.ctid = any (array (
    select o.ctid
    from posthorn_receiver.subjects o
    where o.touched_at <= now() - $2::double precision * interval '1 millisecond'
      and (o.lease_until is null or o.lease_until <= now())
    order by o.touched_at
    limit $1::integer
    for update skip locked
  ))
  returning 1
)
select ((select count(*) from messages) + (select count(*) from subjects))::integer as forgotten
`;
