// Gathers what the witnesses wrote down.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatId } from "@posthorn/wire";
import { monotonicMs } from "../benchmarks/monotonic.ts";
import type { Evidence, ProcessCounters, ReceivedRequest } from "./evidence.ts";
import type { World } from "./world.ts";

export function readReceiverLog(path: string): Pick<Evidence, "requests" | "canaryHits"> {
  const lines = readFileSync(path, "utf8").trim().split("\n").filter(Boolean);
  const open = new Map<number, object>();
  const requests: ReceivedRequest[] = [];
  const canaryHits: string[] = [];
  for (const line of lines) {
    const { what, number, ...rest } = JSON.parse(line);
    if (what === "canary") canaryHits.push(rest.hit);
    if (what === "came") open.set(number, rest);
    if (what !== "ended") continue;
    requests.push({ ...open.get(number), ...rest });
    open.delete(number);
  }
  // nobody hung up on these yet
  const unended = { endedAt: Number.POSITIVE_INFINITY, answeredAt: null, status: null, retryAfterMs: null };
  for (const came of open.values()) requests.push({ ...came, ...unended, content: null } as ReceivedRequest);
  return { requests, canaryHits };
}

/** For whoever looks into a run; the evidence has them already. */
export function writeStalls({ stalls, logsDir }: World): void {
  const lines = stalls.stretches.map((stretch) => `${JSON.stringify(stretch)}\n`);
  writeFileSync(join(logsDir, "stalls.jsonl"), lines.join(""));
}

type Ledger = Pick<Evidence, "deliveries" | "attempts" | "events" | "orders" | "health">;

/** Also written down line by line, beside the other logs: the database does not outlive the run. */
export async function readLedger({ postgres, logsDir }: World): Promise<Ledger> {
  const aheadMs = await databaseAheadMs(postgres);
  const monotonic = (ms: number | null) => (ms === null ? null : ms - aheadMs);
  const [ledger] = await postgres.query<{ [Key in keyof Ledger]: Ledger[Key] }>(ledgerSql);
  const { deliveries, attempts, events, orders, health } = ledger as Ledger;
  const told: Ledger = {
    deliveries: deliveries.map((row) => ({
      ...row,
      id: formatId("dlv", row.id),
      eventId: formatId("evt", row.eventId),
      endpointId: formatId("ep", row.endpointId),
    })),
    attempts: attempts.map((row) => ({
      ...row,
      deliveryId: formatId("dlv", row.deliveryId),
      startedAt: monotonic(row.startedAt),
      nextRetryAt: monotonic(row.nextRetryAt),
    })),
    events: events.map((row) => ({ ...row, id: formatId("evt", row.id) })),
    orders,
    health: health.map((row) => ({
      ...row,
      endpointId: formatId("ep", row.endpointId),
      at: monotonic(row.at) as number,
      throttledUntil: monotonic(row.throttledUntil),
    })),
  };
  const lines = Object.entries(told).flatMap(([what, rows]) =>
    rows.map((row: object) => `${JSON.stringify({ what, ...row })}\n`),
  );
  writeFileSync(join(logsDir, "ledger.jsonl"), lines.join(""));
  return told;
}

/** What the workers that are up have counted, by their own metrics. */
export async function readCounters({ slots }: World): Promise<ProcessCounters[]> {
  const workers = slots.filter(({ role, liveName }) => role === "worker" && liveName !== null);
  return await Promise.all(
    workers.map(async ({ url, liveName }) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return { process: liveName as string, ...countersIn(text) };
    }),
  );
}

export function countersIn(text: string): Omit<ProcessCounters, "process"> {
  let answered = 0;
  let succeeded = 0;
  const series = /^webhook_delivery_attempts_total\{[^}]*outcome="(success|http_\dxx)"[^}]*\} (\d+)$/gm;
  for (const [, outcome, count] of text.matchAll(series)) {
    answered += Number(count);
    if (outcome === "success") succeeded += Number(count);
  }
  return { answered, succeeded };
}

/** The database's clock against the monotonic one; on one machine both tick alike. */
async function databaseAheadMs({ query }: World["postgres"]): Promise<number> {
  const askedAt = monotonicMs();
  const [row] = await query<{ ms: number }>("select posthorn.epoch_ms(clock_timestamp()) as ms");
  return (row?.ms as number) - (askedAt + monotonicMs()) / 2;
}

// One statement, and so one moment: what the canaries are owed is tried on and on.
const ledgerSql = `
select
  array(
    select json_build_object('id', id, 'eventId', event_id, 'endpointId', endpoint_id, 'state', state, 'attempts', attempts)
    from posthorn.delivery_states
  ) as deliveries,
  array(
    select json_build_object(
      'deliveryId', delivery_id, 'number', number, 'statusCode', status_code, 'error', error,
      'startedAt', posthorn.epoch_ms(started_at), 'durationMs', duration_ms,
      'nextRetryAt', posthorn.epoch_ms(next_retry_at)
    )
    from posthorn.attempts
  ) as attempts,
  array(
    select json_build_object('id', id, 'key', substring(convert_from(payload, 'utf8') from '"key":"([^"]*)"'))
    from posthorn.events
  ) as events,
  array(select json_build_object('key', key, 'eventId', event_id) from chaos_orders) as orders,
  array(
    select json_build_object(
      'endpointId', endpoint_id, 'at', posthorn.epoch_ms(at), 'isOnTrial', probe_at is not null,
      'throttledUntil', posthorn.epoch_ms(throttled_until)
    )
    from public.chaos_health
    order by at
  ) as health
`;
