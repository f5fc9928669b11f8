// Decides when this worker looks into the outbox every few milliseconds, so that publishers need not notify it of each
// commit: a commit that notifies waits for every other one on the server. Pure; times are monotonic.
//
//   notified ──more than 10 notifications in 100 ms──► watching ──fewer than 50 events in 500 ms──► notified
import { POLLED_MS } from "../service/loop.ts";

export const WATCH_MS = 1_000;
const lookEveryMs = 10;
const windowMs = 100;
const mostNotifications = 10;
const fewestEvents = 50;
/** A transaction that saw the watch just before its end may take this long to commit. */
const commitMs = 100;

export class OutboxWatch {
  #windowSince = Number.NEGATIVE_INFINITY;
  #notifications = 0;
  #since = Number.NEGATIVE_INFINITY;
  #events = 0;

  notified(now: number): void {
    if (now - this.#windowSince >= windowMs) this.reset(now);
    this.#notifications += 1;
  }

  relayed(events: number): void {
    this.#events += events;
  }

  /** Whether to announce a watch, or to extend the current one. */
  due(now: number): "begin" | "extend" | null {
    const age = now - this.#since;
    if (age < WATCH_MS / 2) return null;
    if (age < WATCH_MS && this.#events >= fewestEvents) return "extend";
    return this.#notifications > mostNotifications ? "begin" : null;
  }

  /** It was announced until `WATCH_MS` after this time, or shortly before. */
  announced(now: number): void {
    this.#since = now;
    this.#events = 0;
    this.reset(now);
  }

  /** Counts notifications anew: another worker watches. */
  reset(now: number): void {
    this.#windowSince = now;
    this.#notifications = 0;
  }

  /** Returns how long to wait until the next look. */
  pauseMs(now: number): number {
    return now - this.#since < WATCH_MS + commitMs ? lookEveryMs : POLLED_MS;
  }
}
