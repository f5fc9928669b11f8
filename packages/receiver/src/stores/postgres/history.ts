// The statements that record received messages, for stores with `historyDays`. They are part of the statements of the store's
// steps, so that the record agrees with what the step committed; a store without history sends none of this.
import { encode } from "@posthorn/wire";
import type { Message } from "../../model.ts";
import type { Statement, Value } from "./database.ts";
import { keyValues, text } from "./rows.ts";

const DAY_MS = 86_400_000;

export class History {
  readonly keptMs: number;
  /** When the first transaction began to handle a message: if it fails, that is recorded in another one. */
  readonly #begun = new WeakMap<Message, number>();

  constructor(days: number) {
    this.keptMs = days * DAY_MS;
  }

  begin(message: Message): void {
    if (!this.#begun.has(message)) this.#begun.set(message, performance.now());
  }

  /** The values of an `addition` to a step. */
  values(message: Message): Value[] {
    const begunAt = this.#begun.get(message) ?? performance.now();
    return [...keyValues(message), text(message.type), message.body, performance.now() - begunAt];
  }
}

/** The steps that are recorded: on which result, and as what. */
const recordedSteps = {
  claim: { condition: "s.kind in ('claimed', 'stale')", attempts: 0, isDone: false },
  accept: { condition: "s.kind = 'accepted'", attempts: 0, isDone: false },
  complete: { condition: "s.done", attempts: 1, isDone: true },
  fail: { condition: "s.kept", attempts: 1, isDone: false },
};

/** A column for the result `s` of a step, whose values begin after that many others. Empty for other steps. */
export function historyColumn(step: string, valuesBefore: number): string {
  if (!Object.hasOwn(recordedSteps, step)) return "";
  const { condition, attempts, isDone } = recordedSteps[step as keyof typeof recordedSteps];
  const types = ["text", "text", "text", "bytea", "double precision"];
  const parameters = types.map((type, at) => `$${valuesBefore + 1 + at}::${type}`).join(", ");
  return `, case when ${condition} then posthorn_receiver.record_history(${parameters}, ${attempts}, ${isDone}) end`;
}

/** Records a message that is acknowledged without being handled. */
export const recordStatement = `
select posthorn_receiver.record_history(
  $1::text, $2::text, $3::text, decode($4::text, 'hex'), 0, 0, false
)::text as recorded`;

/** The values of a statement that is sent together with `commit`. */
export function contentValues({ type, body }: Message): Statement["values"] {
  return [text(type), encode("hex", body)];
}

export const pruneHistory = `
with deleted as (
  delete from posthorn_receiver.history h
  where h.ctid = any (array (
    select o.ctid
    from posthorn_receiver.history o
    where o.received_at <= now() - $2::double precision * interval '1 millisecond'
    order by o.received_at
    limit $1::integer
    for update skip locked
  ))
  returning 1
)
select count(*)::integer as deleted
from deleted
`;
