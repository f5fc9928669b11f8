// All statements of the store: calls of the functions in migrations/, and plain statements on its tables.
import type { Message, MessageKey } from "../../model.ts";
import type { AcceptOptions, AcceptResult, Claim, ClaimResult, Failure, Store } from "../../store.ts";
import { MAX_ERROR_LENGTH, resultOf } from "../results.ts";
import { type Query, type Row, sqlState, type Value } from "./database.ts";
import { type History, historyColumn, pruneHistory } from "./history.ts";
import { inSchema } from "./migrations.ts";
import {
  briefValues,
  claimOf,
  content,
  deadLetterOf,
  keyValues,
  ROW_VALUES,
  rowParameter,
  rowValues,
} from "./rows.ts";

export type Statements = ReturnType<typeof statementsIn>;

/** How often `claimDue` continues if all messages it examined must wait for their subjects. */
const MAX_ROUNDS = 50;

export function statementsIn(schema: string, query: Query, history: History | null) {
  const execute = (statement: string, values: Value[]) => query(inSchema(statement, schema), values);
  const changes = (statement: string) => async (key: MessageKey) =>
    (await execute(statement, keyValues(key))).length > 0;

  /** Calls a function with a message, as a row of values, and further options. */
  const step = async (
    name: string,
    message: Message,
    row: Value[],
    options: (number | boolean | null)[],
  ): Promise<Row> => {
    const types = options.map((value) => (typeof value === "boolean" ? "boolean" : "double precision"));
    const parameters = types.map((type, at) => `, $${ROW_VALUES + 1 + at}::${type}`).join("");
    const values = [...row, ...options];
    const recorded = history === null ? "" : historyColumn(name, values.length);
    if (history !== null && recorded !== "") values.push(...history.values(message));
    const call = `select s.*${recorded} from posthorn_receiver.${name}(${rowParameter}${parameters}) s`;
    const [result = {}] = await execute(call, values);
    return result;
  };

  /** With a token for the owner of the claim; with a window after a rolled-back claim. */
  const fail = async (
    message: Message,
    by: { readonly token: string } | AcceptOptions,
    { error, next }: Failure,
  ): Promise<boolean> => {
    const values = (next.kind === "release" ? briefValues : rowValues)(message, {
      ...("token" in by && { token: by.token }),
      error: error.slice(0, MAX_ERROR_LENGTH),
      state: ({ release: "claimable", retry: "waiting", dead: "dead" } as const)[next.kind],
    });
    const afterMs = next.kind === "retry" ? next.afterMs : null;
    const windowMs = "token" in by ? null : by.windowMs;
    return (await step("fail", message, values, [afterMs, windowMs]).catch(nothingIfLocked)).kept === true;
  };

  const store = {
    async claim(message, { leaseMs, windowMs, order }) {
      const options = [leaseMs, windowMs, order?.gapWaitMs ?? null];
      const { kind, wait, token, failures } = await step("claim", message, rowValues(message), options);
      if (kind !== "claimed") return resultOf<ClaimResult>(kind, wait);
      return { kind, claim: { message, token: token as string, failures: failures as number } };
    },

    complete: async ({ message, token }) =>
      (await step("complete", message, briefValues(message, { token }), [])).done === true,

    fail: ({ message, token }, failure) => fail(message, { token }, failure),

    async accept(message, { windowMs }) {
      const { kind, wait } = await step("accept", message, rowValues(message), [windowMs]);
      return resultOf<AcceptResult>(kind, wait);
    },

    async claimDue(limit, { leaseMs, order }) {
      for (let round = 1; ; round++) {
        const rows = await execute(claimDueStatement, [limit, leaseMs, order?.gapWaitMs ?? null]);
        const claims = rows.filter(({ id }) => id !== null).map(claimOf);
        // An empty row: there are more messages to examine, although none of those examined can be claimed now.
        if (claims.length > 0 || rows.length === 0 || round === MAX_ROUNDS) return claims;
      }
    },

    async claimOne(key, { leaseMs, order }) {
      const [row] = await execute(claimOneStatement, [...keyValues(key), leaseMs, order?.gapWaitMs ?? null]);
      return row === undefined ? null : claimOf(row);
    },

    deadLetters: {
      async list({ limit, after }) {
        const from = after ? [after.diedAt.getTime(), ...keyValues(after.message)] : [null, null, null];
        return (await execute(listStatement, [limit, ...from])).map(deadLetterOf);
      },
      async count() {
        const [row] = await execute(countStatement, []);
        return row?.count as number;
      },
      requeue: changes(requeueStatement),
      undoRequeue: changes(undoRequeueStatement),
      discard: changes(discardStatement),
    },

    async prune(limit, { windowMs }) {
      const [messages] = await execute(pruneStatement, [limit, windowMs]);
      const [records] = history === null ? [] : await execute(pruneHistory, [limit, history.keptMs]);
      return (messages?.deleted as number) + ((records?.deleted as number | undefined) ?? 0);
    },
  } satisfies Partial<Store>;

  return {
    store,

    recordFailure: (message: Message, failure: Failure, { windowMs }: AcceptOptions) =>
      fail(message, { windowMs }, failure),

    /** `wasHeld`: `hold` held it until now, so no other process could claim it even if its lease expired. */
    renew: async ({ message, token }: Claim, leaseMs: number, { wasHeld }: { readonly wasHeld: boolean }) =>
      (await step("renew", message, briefValues(message, { token }), [leaseMs, wasHeld])).kept === true,
  };
}

/** For the error lock_not_available: a connection that was abandoned still locks the row. */
function nothingIfLocked(error: unknown): Row {
  if (sqlState(error) === "55P03") return {};
  throw error;
}

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
    failures = 0
where (m.source, m.id) = ($1::text, $2::text)
  and m.state = 'dead'
returning m.id
`;

const undoRequeueStatement = `
update posthorn_receiver.messages m
set state = 'dead',
    since = clock_timestamp(),
    ready_at = null
where (m.source, m.id) = ($1::text, $2::text)
  and m.state = 'waiting'
returning m.id
`;

const discardStatement = `
select posthorn_receiver.set_done(m.source, m.id)::text as id
from (
  select d.source, d.id
  from posthorn_receiver.messages d
  where (d.source, d.id) = ($1::text, $2::text)
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
select ((select count(*) from messages) + (select count(*) from subjects))::integer as deleted
`;
