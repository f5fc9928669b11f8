// The statements of a handler's transaction: the first one, which is sent with `begin`, and the last one, which is sent with
// `commit`.
import type { Message } from "../../model.ts";
import { type Claim, type ClaimOptions, isOrdered, type RunResult } from "../../store.ts";
import { resultOf } from "../results.ts";
import type { Query, Row, Statement } from "./database.ts";
import { contentValues, type History, recordStatement } from "./history.ts";
import { inSchema } from "./migrations.ts";
import { keyValues, text } from "./rows.ts";

export type TransactionStatements = ReturnType<typeof transactionStatementsIn>;

/** A message that the current transaction holds until it ends. */
export interface Hold {
  readonly message: Message;
  /** The transaction's id. */
  readonly xid: string;
  /** The position of the message's row during the transaction, and its token; null if the message is new and has no row. */
  readonly place: string | null;
  readonly token: string | null;
}

type Claimed =
  | { readonly kind: "claimed"; readonly claim: Claim; readonly hold: Hold }
  | Exclude<RunResult, { kind: "worked" }>;

export function transactionStatementsIn(schema: string, history: History | null) {
  const claimText = inSchema(claim, schema);
  const holdText = inSchema(hold, schema);
  const finishNewText = inSchema(finishNew, schema);
  const finishText = inSchema(finish, schema);
  const finishWithHistoryText = inSchema(finishWithHistory, schema);
  const recordText = inSchema(recordStatement, schema);

  return {
    claim(message: Message, { windowMs, order }: ClaimOptions): Statement {
      history?.begin(message);
      const { digest, subject, sequence } = message;
      const scope = isOrdered(message, { order }) ? [text(subject as string), sequence] : [null, null];
      const values = [...keyValues(message), digest, ...scope, windowMs, order?.gapWaitMs ?? null];
      return { text: claimText, values };
    },

    claimedBy([row]: readonly Row[], message: Message): Claimed {
      const [kind, number, ...values] = String(row?.claimed).split(" ");
      if (kind !== "claimed") return resultOf<Claimed>(kind, number);
      const hold = holdOf(message, values);
      return { kind, claim: { message, token: hold.token ?? hold.xid, failures: Number(number) }, hold };
    },

    hold: ({ message, token }: Claim): Statement => ({
      text: holdText,
      values: [...keyValues(message), message.subject === null ? null : text(message.subject), token],
    }),

    /** Null if the lease was lost. */
    heldBy([row]: readonly Row[], { message }: Claim): Hold | null {
      return typeof row?.held === "string" ? holdOf(message, row.held.split(" ")) : null;
    },

    finish({ message, xid, place, token }: Hold): Statement {
      const known = [xid, place, token];
      const named = [...keyValues(message), message.digest];
      if (history !== null) {
        return { text: finishWithHistoryText, values: [...known, ...named, ...contentValues(message)] };
      }
      return place === null
        ? { text: finishNewText, values: [xid, ...named] }
        : { text: finishText, values: known };
    },

    /** The last statement of a transaction that did not claim the message; null if there is nothing to record. */
    unclaimed: (message: Message, { kind }: RunResult): Statement | null =>
      history === null || kind !== "stale"
        ? null
        : { text: recordText, values: [...keyValues(message), ...contentValues(message)] },

    /** False also if the transaction is aborted, because PostgreSQL does not execute the query then. */
    async hasEnded(query: Query, { xid }: Hold): Promise<boolean> {
      return await query("select pg_current_xact_id_if_assigned()::text as xid", []).then(
        ([row]) => row?.xid !== xid,
        () => false,
      );
    },
  };
}

function holdOf(message: Message, [xid, place = null, token = null]: readonly (string | null)[]): Hold {
  return { message, xid: xid as string, place, token };
}

// Without casts: PostgreSQL takes the types from the procedures.
const claim = "call posthorn_receiver.claim_in_transaction($1, $2, $3, $4, $5, $6, $7, null)";
const hold = "select posthorn_receiver.hold($1, $2, $3, $4) as held";
const finishNew = "call posthorn_receiver.finish_new($1, $2, $3, $4)";
const finish = "call posthorn_receiver.finish($1, $2, $3)";

const finishWithHistory = "call posthorn_receiver.finish_with_history($1, $2, $3, $4, $5, $6, $7, $8)";
