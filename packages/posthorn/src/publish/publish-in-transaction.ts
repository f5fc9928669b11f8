// Publishes in the caller's own transaction: the event exists if and only if that transaction commits.
import { formatId } from "@posthorn/wire";
import { PosthornError } from "../errors.ts";
import type { ValidEvent } from "../event/validate.ts";
import type { Event } from "../model.ts";
import { noteStatement, publishStatement } from "../storage/queries/events/publish-in-transaction.ts";
import { inSchema } from "../storage/sql.ts";
import type { PublishResult } from "./pending-events.ts";

/** A `pg` client with an open transaction, as returned by `pool.connect()` after `begin`. */
export interface Transaction {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

export async function publishInTransaction(
  tx: Transaction,
  schema: string,
  { event, idempotency }: ValidEvent,
): Promise<PublishResult> {
  refuseNoTransaction(tx);
  const values = [
    event.tenant,
    event.type,
    Buffer.from(event.payload).toString("utf8"),
    event.subject,
    event.apiVersion,
    idempotency?.key ?? null,
    formatId("evt", event.id),
  ];
  try {
    const { rows } = await tx.query(inSchema(publishStatement.text, schema), values);
    const published = resultOf(rows[0] as PublishedRow);
    if (!published.duplicate) await note(tx, schema, [published.id], event);
    return published;
  } catch (error) {
    throw refusalOf(error);
  }
}

interface PublishedRow {
  readonly id: string;
  /** Differs from `id` if the event is a duplicate. */
  readonly newId: string;
  readonly sequence: string | null;
}

export function resultOf({ id, newId, sequence }: PublishedRow): PublishResult {
  const number = sequence === null ? null : Number(sequence);
  return { id, sequence: number, duplicate: id !== newId, deliveries: null };
}

/** Stores what the SQL function has no parameter for, if there is any, on events published in this transaction. */
export async function note(
  tx: Transaction,
  schema: string,
  ids: readonly string[],
  { traceparent, attributes }: Pick<Event, "traceparent" | "attributes">,
): Promise<void> {
  if ((traceparent === undefined && attributes === undefined) || ids.length === 0) return;
  await tx.query(inSchema(noteStatement.text, schema), [
    JSON.stringify(ids),
    traceparent ?? null,
    attributes === undefined ? null : JSON.stringify(attributes),
  ]);
}

/** Translates an error of the SQL function; returns any other error unchanged. */
export function refusalOf(error: unknown): unknown {
  const { code, hint, message } = error as { code?: string; hint?: string; message: string };
  if (code !== "PH422") return error;
  return new PosthornError(
    hint === "idempotency_conflict" ? "idempotency_conflict" : "invalid_event",
    message,
    { cause: error, ...(hint === "unknown_type" && { problems: [{ pointer: "/type", message }] }) },
  );
}

export function refuseNoTransaction(tx: Transaction): void {
  const problem = transactionProblem(tx);
  if (problem !== null) throw new PosthornError("not_a_transaction", problem);
}

function transactionProblem(
  tx: Partial<{ totalCount: number; query: unknown; getTransactionStatus: () => string | null }> | undefined,
): string | null {
  if (tx === undefined) {
    return "tx is undefined: the event would be published outside your transaction. Pass the client it runs on, or leave tx out.";
  }
  if (typeof tx?.query !== "function") {
    return "tx has no query method: pass the client your transaction runs on, as pool.connect() gives it.";
  }
  if (tx.totalCount !== undefined) {
    return "tx is a Pool: every query of a pool may run on another connection, outside your transaction. Take a client with pool.connect(), begin, and pass that client.";
  }
  if (tx.getTransactionStatus?.() === "I") {
    return "tx has no open transaction: the event would be committed on its own. Send begin on this client and await it first, or leave tx out.";
  }
  return null;
}
