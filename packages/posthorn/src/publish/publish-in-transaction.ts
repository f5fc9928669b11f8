// Publishes in the caller's own transaction: the event exists if and only if that transaction commits.
import { formatId } from "@posthorn/wire";
import { PosthornError } from "../errors.ts";
import type { ValidEvent } from "../event/validate.ts";
import {
  type PublishedRow,
  publishInTransactionStatement,
  publishStatement,
} from "../storage/queries/events/publish-in-transaction.ts";
import { inSchema, type Statement } from "../storage/sql.ts";
import type { PublishResult } from "./pending-events.ts";
import { notPostgresql, queryIn, type Transaction, type Value } from "./transaction-libraries.ts";

/** A statement that publishes an event, for an application that sends it. It returns `id`, `duplicate` and `sequence`. */
export interface PublishStatement {
  readonly text: string;
  /** For `$1`, `$2`, …. */
  readonly values: (string | null)[];
}

export async function publishInTransaction(
  tx: Transaction,
  schema: string,
  event: ValidEvent,
): Promise<PublishResult> {
  const rows = await sendInTransaction(tx, schema, publishInTransactionStatement, valuesOf(event));
  return resultOf(rows[0] as PublishedRow);
}

export function statementOf(schema: string, event: ValidEvent): PublishStatement {
  return { text: inSchema(publishStatement.text, schema), values: valuesOf(event) };
}

function valuesOf({ event, idempotency }: ValidEvent): Value[] {
  return [
    event.tenant,
    event.type,
    Buffer.from(event.payload).toString("utf8"),
    event.subject,
    event.apiVersion,
    idempotency?.key ?? null,
    formatId("evt", event.id),
    ...extrasOf(event),
  ];
}

export function extrasOf({ traceparent, attributes }: ValidEvent["event"]): Value[] {
  return [traceparent ?? null, attributes === undefined ? null : JSON.stringify(attributes)];
}

export function resultOf({ id, duplicate, sequence }: PublishedRow): PublishResult {
  if (typeof id !== "string") throw notPostgresql();
  return { id, sequence: sequence === null ? null : Number(sequence), duplicate, deliveries: null };
}

/** The last publish of each transaction. */
const latest = new WeakMap<object, Promise<unknown>>();

/**
 * Sends a statement that returns no row unless an earlier one got the transaction its id. Then it is sent again, and
 * without a row no transaction is open. Publishes of a transaction run one after the other, so that none overtakes one
 * that is sent again.
 */
export async function sendInTransaction(
  tx: Transaction,
  schema: string,
  statement: Statement,
  values: Value[],
): Promise<readonly unknown[]> {
  const { query, notInTransaction } = queryIn(tx);
  const text = inSchema(statement.text, schema);
  const send = async (): Promise<readonly unknown[]> => {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const rows = await query(text, values);
      if (rows.length > 0) return rows;
    }
    throw notInTransaction();
  };
  const sent = (latest.get(tx) ?? Promise.resolve()).then(send, send);
  latest.set(tx, sent);
  try {
    return await sent;
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Translates an error of the SQL function; returns any other error unchanged. */
function refusalOf(error: unknown): unknown {
  const refused = databaseErrors(error).find(({ code }) => code === "PH422");
  if (refused === undefined) return error;
  const { hint, message } = refused;
  const pointer = pointers[hint ?? ""];
  return new PosthornError(
    hint === "idempotency_conflict" ? "idempotency_conflict" : "invalid_event",
    message,
    { cause: error, ...(pointer !== undefined && { problems: [{ pointer, message }] }) },
  );
}

const pointers: Readonly<Record<string, string>> = { unknown_type: "/type", too_many_tenants: "/user" };

interface DatabaseError {
  readonly code?: string;
  readonly hint?: string;
  readonly message: string;
}

/** The error of PostgreSQL and those that libraries wrapped around it, the innermost first. */
function databaseErrors(error: unknown): readonly DatabaseError[] {
  const errors: DatabaseError[] = [];
  let current = error;
  while (typeof current === "object" && current !== null && errors.length < 5) {
    errors.unshift(current as DatabaseError);
    current = wrappedIn(current);
  }
  return errors;
}

/** The error that Sequelize (`original`), TypeORM (`driverError`), Prisma (`meta`) or another library wrapped. */
function wrappedIn(error: object): unknown {
  const { cause, original, driverError, meta } = error as Record<string, unknown>;
  return (
    cause ?? original ?? driverError ?? (meta as Record<string, unknown> | undefined)?.driverAdapterError
  );
}
