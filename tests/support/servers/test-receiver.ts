// A receiver that records every request: its sender, whether it was accepted, what was open at the same time,
// and the order of events within a subject. Requests of a killed sender end with its sockets. `audit` compares them with
// the deliveries and attempts in the database.
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { formatId } from "@posthorn/wire";
import type pg from "pg";
import { expect } from "vitest";
import { queueEmpty } from "../database/postgres.ts";
import { Signal } from "../eventually.ts";
import { serve } from "./http.ts";

export interface Arrival {
  readonly path: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  readonly attempt: number;
  readonly sender: string;
  /** A 2xx was written in full to a connection that was still open. */
  isAccepted: boolean;
}

export type TestReceiver = Awaited<ReturnType<typeof startTestReceiver>>;

export async function startTestReceiver() {
  const arrivals: Arrival[] = [];
  const overlaps: Arrival[] = [];
  const eventsByPath = new Map<string, Set<string>>();
  const maxOpen = new Map<string, number>();
  const openByPath = new Map<string, number>();
  const openBySubject = new Map<string, number>();
  const held: (() => void)[] = [];
  const signal = new Signal();
  const { url, close } = await serve((request, response) => void receive(request, response).catch(() => {}));

  const receiver = {
    url,
    close,
    arrivals: arrivals as readonly Arrival[],
    /** Arrivals during which another request of their path and subject was open. */
    overlaps: overlaps as readonly Arrival[],
    /** The most requests that were ever open at once for one path. */
    maxOpen: maxOpen as ReadonlyMap<string, number>,
    /** Returns the status for an arrival. Default 200. */
    answer: (_arrival: Arrival): number | Promise<number> => 200,
    /** Delay of the next responses in milliseconds. */
    answerAfterMs: () => 0,
    /** Requests for which this returns true stay open until `release`, which also stops holding. */
    hold: (_arrival: Arrival): boolean => false,
    release(): void {
      receiver.hold = () => false;
      for (const resolve of held.splice(0)) resolve();
    },
    /** Resolves when the condition holds, which is checked whenever a request arrives or ends. */
    until: async (what: string, condition: () => boolean): Promise<void> =>
      void (await signal.until(() => `${what} (${arrivals.length} requests)`, condition, 40_000)),
    /** Events with a 2xx response at this path. */
    eventsAt: (path: string): ReadonlySet<string> => eventsByPath.get(path) ?? new Set(),
    /** Sequences at a path, in the order of arrival. Default: of all subjects. */
    sequences: (path: string, subject?: string) =>
      arrivals
        .filter((arrival) => arrival.path === path && (subject === undefined || arrival.subject === subject))
        .map(({ sequence }) => sequence),
    /** `path subject: 5 after 6` for each event that arrived after a later one of its subject. */
    disorder() {
      const last = new Map<string, number>();
      return arrivals.flatMap(({ path, subject, sequence }) => {
        if (subject === null || sequence === null) return [];
        const key = `${path} ${subject}`;
        const before = last.get(key) ?? 0;
        last.set(key, sequence);
        return before > sequence ? [`${key}: ${sequence} after ${before}`] : [];
      });
    },
  };
  return receiver;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    const arrival = toArrival(request, await text(request));
    const { path, subject } = arrival;
    arrivals.push(arrival);
    maxOpen.set(path, Math.max(add(openByPath, path, 1), maxOpen.get(path) ?? 0));
    const key = `${path} ${subject}`;
    if (add(openBySubject, key, 1) > 1 && subject !== null) overlaps.push(arrival);
    response.once("close", () => {
      add(openByPath, path, -1);
      add(openBySubject, key, -1);
      signal.notify();
    });
    const mayAnswer = new Promise<void>((resolve) => {
      if (receiver.hold(arrival)) held.push(resolve);
      // biome-ignore lint/plugin: the latency of a simulated receiver
      else setTimeout(resolve, receiver.answerAfterMs());
    });
    signal.notify();
    await mayAnswer;
    const status = await receiver.answer(arrival);
    if (response.destroyed) return;
    response.writeHead(status).end(() => {
      if (status >= 300) return;
      arrival.isAccepted = true;
      const events = eventsByPath.get(path) ?? new Set();
      eventsByPath.set(path, events.add(arrival.eventId));
    });
  }
}

function add(counts: Map<string, number>, key: string, more: number): number {
  const count = (counts.get(key) ?? 0) + more;
  counts.set(key, count);
  return count;
}

function toArrival({ url = "", headers }: IncomingMessage, body: string): Arrival {
  const { subject = null, sequence = null } = JSON.parse(body);
  return {
    path: url,
    eventId: String(headers["x-webhook-id"]),
    deliveryId: String(headers["x-webhook-delivery-id"]),
    subject,
    sequence,
    attempt: Number(headers["x-webhook-attempt"]),
    sender: String(headers["user-agent"]),
    isAccepted: false,
  };
}

/** The audit if every delivery succeeded and no outcome is unknown. */
export const untouched = {
  unknown: 0,
  duplicates: 0,
  unexplained: [],
  unrecorded: [],
  misnumbered: [],
  unfinished: [],
};

export async function audit(pool: pg.Pool, { arrivals }: Pick<TestReceiver, "arrivals">) {
  const { rows } = await pool.query<AuditRow>(auditStatement);
  const received = new Map<string, number>();
  const accepted = new Map<string, number>();
  for (const { deliveryId, isAccepted } of arrivals) {
    add(received, deliveryId, 1);
    if (isAccepted) add(accepted, deliveryId, 1);
  }
  const extrasOf = ({ id }: AuditRow) => Math.max(0, (accepted.get(formatId("dlv", id)) ?? 0) - 1);
  const sum = (count: (row: AuditRow) => number) => rows.reduce((total, row) => total + count(row), 0);
  const idsOf = (condition: (row: AuditRow) => boolean) => rows.filter(condition).map(({ id }) => id);
  return {
    deliveries: rows.length,
    attempts: sum((row) => row.attempts),
    /** Attempts of dead workers, recorded as unknown. */
    unknown: sum((row) => row.unknown),
    /** 2xx responses beyond the first of each delivery. */
    duplicates: sum(extrasOf),
    /** Deliveries with more of those than attempts recorded as unknown. */
    unexplained: idsOf((row) => extrasOf(row) > row.unknown),
    /** Deliveries with more requests than attempts. */
    unrecorded: idsOf(({ id, attempts }) => (received.get(formatId("dlv", id)) ?? 0) > attempts),
    /** Deliveries whose attempts are not numbered 1 … n. */
    misnumbered: idsOf(({ attempts, numbers }) => numbers.join() !== upTo(attempts).join()),
    unfinished: idsOf(({ state }) => state !== "success"),
  };
}

/** Waits until every event was accepted at every path and the queue is empty; then nothing was sent twice. */
export async function expectDelivered(
  pool: pg.Pool,
  receiver: TestReceiver,
  paths: readonly string[],
  events: Iterable<string>,
): Promise<void> {
  const ids = [...events];
  await receiver.until("every acknowledged event at every endpoint", () =>
    paths.every((path) => ids.every((id) => receiver.eventsAt(path).has(id))),
  );
  await queueEmpty(pool);
  expect(await audit(pool, receiver)).toMatchObject(untouched);
}

interface AuditRow {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly unknown: number;
  readonly numbers: readonly number[];
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
