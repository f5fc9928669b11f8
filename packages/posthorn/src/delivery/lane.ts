// One endpoint's lane while this worker owns it. The cap on attempts in flight is exact because it is counted here and
// nowhere else: nobody but the owner sends to the endpoint.
import { laneRoom } from "../fan-out/lane-room.ts";
import type { ClaimedDelivery, Target, Uuid } from "../model.ts";
import { SubjectOrder } from "./subject-order.ts";

export class Lane {
  readonly endpointId: Uuid;
  target: Target;
  /** Claimed and in memory, not yet started. */
  readonly waiting: ClaimedDelivery[] = [];
  readonly order = new SubjectOrder();
  inFlight = 0;
  /** Places promised to rows that an ingest statement in the air will bring. */
  reserved = 0;
  /** Answered, not yet written down. */
  unsettled = 0;
  /** A fetch for it is in the air. */
  isFetching = false;
  /** Rows may be owed in the database that are not in memory. */
  hasOwed = false;
  /** There are so many of them that newcomers queue behind them, or they would wait for ever. */
  isBacklogged = false;
  /** Grows with every sign of owed rows; a fetch that began before the last sign proves nothing. */
  owedSigns = 0;
  /** Monotonic time at which the next owed row is due. */
  dueAt = Number.POSITIVE_INFINITY;
  /** Monotonic time of the last sign of work. */
  usedAt: number;
  /** Standing in the line of lanes that may start an attempt. */
  inLine = false;
  /** Its endpoint is not active: nothing is started, and what waits is given back. */
  isPaused = false;
  /** Being let go of: it takes nothing new. */
  isReleasing = false;
  /** Of a life that has ended; what it still holds is somebody else's. */
  isForgotten = false;

  constructor(target: Target, now: number) {
    this.endpointId = target.endpointId;
    this.target = target;
    this.usedAt = now;
  }

  get isClosing(): boolean {
    return this.isPaused || this.isReleasing;
  }

  /** There are rows this worker holds, or is about to hold, for the lane, or a turn that only it knows of. */
  get isHolding(): boolean {
    const held = this.waiting.length + this.inFlight + this.reserved + this.unsettled;
    return this.isFetching || held > 0 || this.order.owesTurns;
  }

  /** Rows that may still come into memory. */
  get room(): number {
    return laneRoom(this.target.maxInFlight) - this.waiting.length - this.reserved;
  }

  get mayStart(): boolean {
    return (
      !this.isClosing && this.inFlight < this.target.maxInFlight && this.order.firstFree(this.waiting) !== -1
    );
  }

  /** The one to start; `mayStart` says that there is one. */
  takeNext(): ClaimedDelivery {
    const place = this.order.firstFree(this.waiting);
    return (place === 0 ? this.waiting.shift() : this.waiting.splice(place, 1)[0]) as ClaimedDelivery;
  }
}
