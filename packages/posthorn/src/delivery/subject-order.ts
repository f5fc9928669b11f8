// The order within the subjects of one lane, as far as it is kept in memory. The database hands out one delivery of a
// subject at a time; only a retry by hand can bring a lower one while another is in memory, so this rarely has
// anything to do.
import type { ClaimedDelivery } from "../model.ts";

export class SubjectOrder {
  /** Subjects with a delivery that was started and is not yet written down: were the next one sent before that, a crash
   * would send the old one again after the new. */
  readonly #busy = new Set<string>();
  /** Subjects whose next delivery is to get its turn in the database. */
  readonly freed = new Set<string>();
  /** All subjects after this one are to be looked at, because nobody knows whose turn it is there; null: none is. */
  scanAfter: string | null = null;
  isPromoting = false;

  /** Somebody's turn has come and the database does not know it yet. */
  get hasPendingTurns(): boolean {
    return this.isPromoting || this.freed.size > 0 || this.scanAfter !== null;
  }

  begin(delivery: ClaimedDelivery): void {
    if (delivery.isOrdered) this.#busy.add(delivery.event.subject as string);
  }

  end(delivery: ClaimedDelivery): void {
    if (delivery.isOrdered) this.#busy.delete(delivery.event.subject as string);
  }

  /** Lines a delivery up, before those that come after it in its subject. */
  lineUp(delivery: ClaimedDelivery, waiting: ClaimedDelivery[]): void {
    const place = delivery.isOrdered ? waiting.findIndex((other) => isBefore(delivery, other)) : -1;
    if (place === -1) waiting.push(delivery);
    else waiting.splice(place, 0, delivery);
  }

  /** The place of the first whose subject is free, or -1. */
  firstFree(waiting: readonly ClaimedDelivery[]): number {
    if (this.#busy.size === 0) return waiting.length === 0 ? -1 : 0;
    return waiting.findIndex(
      ({ isOrdered, event }) => !isOrdered || !this.#busy.has(event.subject as string),
    );
  }
}

export function isBefore(delivery: ClaimedDelivery, other: ClaimedDelivery): boolean {
  return (
    delivery.isOrdered &&
    other.isOrdered &&
    other.event.subject === delivery.event.subject &&
    (other.event.sequence as number) > (delivery.event.sequence as number)
  );
}
