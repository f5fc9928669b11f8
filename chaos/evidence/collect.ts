// Reads the logs, the database and the metrics after a run.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatId } from "@posthorn/wire";
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import type { World } from "../world/world.ts";
import type { Evidence, ProcessCounters, ReceivedRequest } from "./evidence.ts";

export function readReceiverLog(path: string): Pick<Evidence, "requests" | "canaryHits"> {
  const lines = readFileSync(path, "utf8").trim().split("\n").filter(Boolean);
  const open = new Map<number, object>();
  const requests: ReceivedRequest[] = [];
  const canaryHits: string[] = [];
  for (const line of lines) {
    const { what, number, ...rest } = JSON.parse(line);
    if (what === "canary") canaryHits.push(rest.hit);
    if (what === "arrived") open.set(number, rest);
    if (what !== "ended") continue;
    requests.push({ ...open.get(number), ...rest });
    open.delete(number);
  }
  // still open
  const unended = { endedAt: Number.POSITIVE_INFINITY, respondedAt: null, status: null, retryAfterMs: null };
  for (const arrived of open.values())
    requests.push({ ...arrived, ...unended, content: null } as ReceivedRequest);
  return { requests, canaryHits };
}

/** Writes the stalls and the samples of processor time beside the other logs, for analysis. */
export function writeMachine({ stalls, processor, logsDir }: World): void {
  writeLines(join(logsDir, "stalls.jsonl"), stalls.intervals);
  writeLines(join(logsDir, "processor.jsonl"), processor.samples);
}

function writeLines(path: string, items: readonly object[]): void {
  writeFileSync(path, items.map((item) => `${JSON.stringify(item)}\n`).join(""));
}

/** Writes the owners of the lanes over time beside the other logs, for analysis. */
export async function writeLaneOwners({ postgres, logsDir }: World): Promise<void> {
  const aheadMs = await databaseAheadMs(postgres);
  const rows = await postgres.query<{ endpointId: string; owner: string | null; atMs: number }>(`
    select l.endpoint_id as "endpointId", l.owner, extract(epoch from l.at)::float8 * 1000 as "atMs"
    from public.chaos_lanes l
    order by l.at`);
  const owners = rows.map(({ endpointId, owner, atMs }) => ({
    endpoint: formatId("ep", endpointId),
    owner,
    at: atMs - aheadMs,
  }));
  writeLines(join(logsDir, "lane-owners.jsonl"), owners);
}

type Ledger = Pick<Evidence, "deliveries" | "attempts" | "events" | "orders" | "health">;

/** Reads the database and also writes it to ledger.jsonl, because the database is deleted after the run. */
export async function readLedger({ postgres, logsDir }: World): Promise<Ledger> {
  const aheadMs = await databaseAheadMs(postgres);
  const monotonic = (ms: number | null) => (ms === null ? null : ms - aheadMs);
  const [ledger] = await postgres.query<{ [Key in keyof Ledger]: Ledger[Key] }>(ledgerSql);
  const { deliveries, attempts, events, orders, health } = ledger as Ledger;
  const converted: Ledger = {
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
  const lines = Object.entries(converted).flatMap(([what, rows]) =>
    rows.map((row: object) => ({ what, ...row })),
  );
  writeLines(join(logsDir, "ledger.jsonl"), lines);
  return converted;
}

/** Reads the counters of the running workers from their metrics. */
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
  let responded = 0;
  let succeeded = 0;
  const series = /^webhook_delivery_attempts_total\{[^}]*outcome="(success|http_\dxx)"[^}]*\} (\d+)$/gm;
  for (const [, outcome, count] of text.matchAll(series)) {
    responded += Number(count);
    if (outcome === "success") succeeded += Number(count);
  }
  return { responded, succeeded };
}

/** Returns the difference between the database's clock and the monotonic clock. */
async function databaseAheadMs({ query }: World["postgres"]): Promise<number> {
  const askedAt = monotonicMs();
  const [row] = await query<{ ms: number }>("select posthorn.epoch_ms(clock_timestamp()) as ms");
  return (row?.ms as number) - (askedAt + monotonicMs()) / 2;
}

// One statement, so one snapshot: deliveries to canaries are retried all the time.
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
      'endpointId', endpoint_id, 'at', posthorn.epoch_ms(at), 'isCircuitOpen', probe_at is not null,
      'throttledUntil', posthorn.epoch_ms(throttled_until)
    )
    from public.chaos_health
    order by at
  ) as health
`;
