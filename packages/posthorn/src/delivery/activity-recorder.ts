// Counts attempts for the charts, in memory first and in the database every few seconds. A process that crashes loses
// the last seconds, which affects charts only.
import type { Settlement, Uuid } from "../model.ts";
import { bucketOf, LATENCY_BUCKETS } from "../observe/latency-histogram.ts";
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import { withTimeout } from "../service/with-timeout.ts";
import type { Queryable } from "../storage/database.ts";
import { type ActivityBucket, addActivity, INSTALLATION, WIDTHS } from "../storage/queries/activity.ts";

export interface ActivityRecorderOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  /** Returns the database's time. */
  readonly nowMs: () => number;
  readonly limits?: Partial<typeof LIMITS>;
}

/**
 * Endpoints counted at a time (250 bytes each), and rows per write, oldest first. A worker writes at most 200 rows
 * per second; with 10,000 busy endpoints a chart is 50 s late.
 */
const LIMITS = { tallies: 10_000, rowsAtOnce: 1_000 };
const WRITE_EVERY_MS = 5_000;
const LAST_WRITE_MS = 2_000;

interface Tally {
  readonly atMs: number;
  readonly endpointId: Uuid;
  success: number;
  failed: number;
  dead: number;
  readonly latency: Int32Array;
}

export class ActivityRecorder extends Loop {
  readonly #options: ActivityRecorderOptions;
  readonly #limits: typeof LIMITS;
  /** Tallies of the current five minutes, in the order of their creation. */
  #endpoints = new Map<Uuid, Tally>();
  /** Tallies of past five minutes, and those whose write failed. */
  #past: Tally[] = [];
  /** Tallies being written. */
  #writing = 0;
  /** Tallies of the installation, by minute. */
  #installation = new Map<number, Tally>();

  constructor(options: ActivityRecorderOptions) {
    const { logger } = options;
    super({ name: "recording activity", intervalMs: WRITE_EVERY_MS, logger, step: () => this.#write() });
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Writes a last time, within a time limit. */
  override async stop(): Promise<void> {
    await withTimeout(LAST_WRITE_MS, this.runNow());
    await super.stop();
  }

  /** Counts an attempt, in 0.1 µs. A delivery that the receiver postponed is neither a success nor a failure. */
  note({ delivery, decision, outcome }: Settlement): void {
    if (decision.kind === "retry" && !decision.isFailure) return;
    const nowMs = this.#options.nowMs();
    const bucket = bucketOf(outcome.durationMs);
    count(this.#ofMinute(nowMs), decision.kind, bucket);
    const tally = this.#ofEndpoint(delivery.endpointId, nowMs);
    if (tally !== null) count(tally, decision.kind, bucket);
  }

  #ofMinute(nowMs: number): Tally {
    const atMs = startOf(nowMs, WIDTHS.minute);
    let tally = this.#installation.get(atMs);
    if (tally === undefined) {
      tally = newTally(INSTALLATION, atMs);
      this.#installation.set(atMs, tally);
      // an outage of hours keeps one hour of counts in memory
      const [first] = this.#installation.keys();
      if (this.#installation.size > 60 && first !== undefined) this.#installation.delete(first);
    }
    return tally;
  }

  /** Returns null if there are too many tallies: the attempt counts for the installation only. */
  #ofEndpoint(endpointId: Uuid, nowMs: number): Tally | null {
    const atMs = startOf(nowMs, WIDTHS.five);
    const known = this.#endpoints.get(endpointId);
    if (known?.atMs === atMs) return known;
    if (known !== undefined) {
      this.#endpoints.delete(endpointId);
      this.#past.push(known);
    }
    if (this.#endpoints.size + this.#past.length + this.#writing >= this.#limits.tallies) return null;
    const tally = newTally(endpointId, atMs);
    this.#endpoints.set(endpointId, tally);
    return tally;
  }

  async #write(): Promise<boolean> {
    const minutes = [...this.#installation.values()];
    const tallies = this.#oldest();
    this.#installation = new Map();
    if (minutes.length === 0 && tallies.length === 0) return false;
    this.#writing = tallies.length;
    try {
      await addActivity(this.#options.db, activityBucketsOf(minutes, tallies));
    } catch (error) {
      this.#keep(minutes, tallies);
      throw error;
    } finally {
      this.#writing = 0;
    }
    return false;
  }

  #oldest(): Tally[] {
    const { rowsAtOnce } = this.#limits;
    const taken = this.#past.splice(0, rowsAtOnce);
    for (const [endpointId, tally] of this.#endpoints) {
      if (taken.length >= rowsAtOnce) break;
      taken.push(tally);
      this.#endpoints.delete(endpointId);
    }
    return taken;
  }

  /** If only the reply was lost, these are counted twice, which charts tolerate. */
  #keep(minutes: readonly Tally[], tallies: readonly Tally[]): void {
    for (const tally of minutes) {
      const since = this.#installation.get(tally.atMs);
      if (since !== undefined) addTo(tally, since);
      this.#installation.set(tally.atMs, tally);
    }
    this.#past.unshift(...tallies);
  }
}

function newTally(endpointId: Uuid, atMs: number): Tally {
  return { endpointId, atMs, success: 0, failed: 0, dead: 0, latency: new Int32Array(LATENCY_BUCKETS) };
}

const RESULTS = { delivered: "success", retry: "failed", dead: "dead" } as const;

function count(tally: Tally, decision: keyof typeof RESULTS, bucket: number): void {
  tally[RESULTS[decision]] += 1;
  tally.latency[bucket] = (tally.latency[bucket] as number) + 1;
}

function addTo(tally: Tally, more: Tally): void {
  for (const result of Object.values(RESULTS)) tally[result] += more[result];
  more.latency.forEach((attempts, bucket) => {
    tally.latency[bucket] = (tally.latency[bucket] as number) + attempts;
  });
}

/**
 * The installation is counted per minute and per five minutes. Rows of the same key are merged, because one statement
 * cannot write a row twice.
 */
function activityBucketsOf(minutes: readonly Tally[], tallies: readonly Tally[]): ActivityBucket[] {
  const fives = new Map<number, Tally>();
  for (const minute of minutes) {
    const atMs = startOf(minute.atMs, WIDTHS.five);
    const five = fives.get(atMs) ?? newTally(INSTALLATION, atMs);
    addTo(five, minute);
    fives.set(atMs, five);
  }
  const byEndpoint = new Map<string, Tally>();
  for (const tally of tallies) {
    const key = `${tally.atMs} ${tally.endpointId}`;
    const known = byEndpoint.get(key);
    if (known === undefined) byEndpoint.set(key, tally);
    else addTo(known, tally);
  }
  return [
    ...minutes.map((tally) => ({ ...tally, width: WIDTHS.minute })),
    ...[...fives.values(), ...byEndpoint.values()].map((tally) => ({ ...tally, width: WIDTHS.five })),
  ];
}

function startOf(ms: number, widthSeconds: number): number {
  const widthMs = widthSeconds * 1_000;
  return Math.floor(ms / widthMs) * widthMs;
}
