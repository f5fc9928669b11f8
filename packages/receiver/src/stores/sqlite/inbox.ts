// Claims due messages from the inbox.
import type { Claim, ClaimOptions } from "../../store.ts";
import type { Connection } from "./connection.ts";
import { decideOrder } from "./decide-claim.ts";
import type { Messages } from "./messages.ts";
import type { SubjectPosition, Subjects } from "./subjects.ts";

/** A due message. */
interface Due extends SubjectPosition {
  readonly rowid: number;
  readonly at: number;
  readonly state: "running" | "waiting";
  readonly tries: number;
  readonly first_seen_at: number;
}

const columns = "rowid, source, id, at, state, tries, first_seen_at, subject, sequence";

/** Uses the index on sequences: with 10,000 messages of one subject, a claim takes 8 ms instead of 100. */
const lowerOne = `
  select 1
  from posthorn_receiver_messages as lower
  where lower.state in ('running', 'waiting') and lower.source = message.source
    and lower.subject = message.subject and lower.sequence < message.sequence and lower.at <= ?`;

const PAGE_ROWS = 100;

export class Inbox {
  readonly #connection: Connection;
  readonly #messages: Messages;
  readonly #subjects: Subjects;

  constructor(connection: Connection, messages: Messages, subjects: Subjects) {
    this.#connection = connection;
    this.#messages = messages;
    this.#subjects = subjects;
  }

  claimDue(limit: number, terms: ClaimOptions, now: number): Claim[] {
    const claims: Claim[] = [];
    const seenSubjects = new Set<string>();
    for (const due of this.#due(now, terms.order !== null)) {
      if (claims.length === limit) break;
      const subject = terms.order === null ? null : subjectName(due);
      if (subject !== null && seenSubjects.has(subject)) continue;
      if (subject !== null) seenSubjects.add(subject);
      const claim = subject === null ? this.#claim(due, terms, now) : this.#claimLowest(due, terms, now);
      if (claim !== null) claims.push(claim);
    }
    return claims;
  }

  claimOne(source: string, id: string, terms: ClaimOptions, now: number): Claim | null {
    const due = this.#connection.first<Due>(
      `select ${columns}
       from posthorn_receiver_messages
       where source = ? and id = ? and state in ('running', 'waiting') and at <= ?`,
      source,
      id,
      now,
    );
    return due && this.#claim(due, terms, now);
  }

  /** Longest due first; with ordering only the lowest sequence of a subject. */
  *#due(now: number, isOrdered: boolean): Generator<Due> {
    let [at, rowid] = [-1, -1];
    for (;;) {
      const page = this.#connection.all<Due>(
        `select ${columns}
         from posthorn_receiver_messages as message
         where state in ('running', 'waiting') and (at, rowid) > (?, ?) and at <= ?
           and (? = 0 or not exists (${lowerOne}))
         order by at, rowid
         limit ?`,
        at,
        rowid,
        now,
        Number(isOrdered),
        now,
        PAGE_ROWS,
      );
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_ROWS) return;
      [at, rowid] = [Number(last.at), Number(last.rowid)];
    }
  }

  /** Completes stale messages on the way. */
  #claimLowest({ source, subject }: Due, terms: ClaimOptions, now: number): Claim | null {
    for (;;) {
      const lowest = this.#connection.first<Due>(
        `select ${columns}
         from posthorn_receiver_messages
         where state in ('running', 'waiting') and source = ? and subject = ? and sequence is not null and at <= ?
         order by sequence
         limit 1`,
        source,
        subject,
        now,
      );
      if (lowest === null) return null;
      const claim = this.#claim(lowest, terms, now);
      if (claim !== null || !this.#isDone(lowest)) return claim;
    }
  }

  #isDone(due: Due): boolean {
    return this.#messages.find(due)?.state === "done";
  }

  #claim(due: Due, { order, leaseMs }: ClaimOptions, now: number): Claim | null {
    const place = { ...due, sequence: due.sequence === null ? null : Number(due.sequence) };
    const subject = () => this.#subjects.find(place, now);
    const { kind } = decideOrder(place, Number(due.first_seen_at), order, subject, now);
    if (kind === "stale") this.#messages.finish(due, now);
    if (kind !== "free") return null;
    const tries = Number(due.tries) + (due.state === "running" ? 1 : 0);
    const token = crypto.randomUUID();
    const isOrdered = order !== null && subjectName(due) !== null;
    this.#messages.change(due, { state: "running", at: now + leaseMs, tries, token, isOrdered });
    return { message: this.#messages.read(due), token, tries };
  }
}

/** Null for messages without a sequence. */
function subjectName({ source, subject, sequence }: SubjectPosition): string | null {
  return subject === null || sequence === null ? null : JSON.stringify([source, subject]);
}
