// The order within the subjects of a lane, as far as it is kept in memory. The database releases one delivery of a
// subject at a time; only a manual retry can bring an earlier one while another is in memory.
import type { ClaimedDelivery } from "../model.ts";

export class SubjectOrder {
  /**
   * Subjects with a delivery that was started and is not settled. If the next one were sent before that, a crash
   * would resend the earlier one after it.
   */
  readonly #busy = new Set<string>();
  /** Subjects whose next delivery has to be promoted in the database. */
  readonly freed = new Set<string>();
  /** All subjects after this one have to be scanned, because their next delivery is unknown; null if none has. */
  scanAfter: string | null = null;
  isPromoting = false;

  /** True if a promotion is not yet written to the database. */
  get hasPendingPromotions(): boolean {
    return this.isPromoting || this.freed.size > 0 || this.scanAfter !== null;
  }

  begin(delivery: ClaimedDelivery): void {
    if (delivery.isOrdered) this.#busy.add(delivery.event.subject as string);
  }

  end(delivery: ClaimedDelivery): void {
    if (delivery.isOrdered) this.#busy.delete(delivery.event.subject as string);
  }

  /** Inserts a delivery before later deliveries of its subject. */
  insert(delivery: ClaimedDelivery, waiting: ClaimedDelivery[]): void {
    const index = delivery.isOrdered ? waiting.findIndex((other) => isBefore(delivery, other)) : -1;
    if (index === -1) waiting.push(delivery);
    else waiting.splice(index, 0, delivery);
  }

  /** Returns the index of the first delivery whose subject is free, or -1. */
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
