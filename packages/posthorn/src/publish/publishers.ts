// The publishers of a process. Events with keys or subjects may have to wait for locks; others never wait with them.
import type { ValidEvent } from "../event/validate.ts";
import type { LaneOwner, StoredEvents } from "../fan-out/fan-out.ts";
import type { Event } from "../model.ts";
import { EventPasser } from "./event-passer.ts";
import type { PublishResult } from "./pending-events.ts";
import { Publisher, type PublisherOptions } from "./publisher.ts";

export interface PublishersOptions extends PublisherOptions {
  readonly lanes: Pick<LaneOwner, "passEvents">;
}

export class Publishers {
  readonly #options: PublishersOptions;
  readonly #plain: Publisher;
  readonly #locking: Publisher;
  readonly #passer: EventPasser;

  constructor(options: PublishersOptions) {
    this.#options = options;
    this.#plain = new Publisher(options);
    this.#locking = new Publisher(options);
    this.#passer = new EventPasser({
      pass: async (owner, events) => {
        const stored = await options.lanes.passEvents(owner, events);
        if (stored !== null) options.fanOut.compareRoutes(stored.routingVersions);
        return stored?.deliveries ?? null;
      },
      publisher: this.#plain,
    });
  }

  publish(valid: ValidEvent): Promise<PublishResult> {
    const { event, idempotency } = valid;
    if (idempotency !== null || event.subject !== null) return this.#locking.publish(valid);
    const owner = this.#options.fanOut.passesTo(event);
    return owner === null ? this.#plain.publish(valid) : this.#passer.publish(owner, event);
  }

  /** Stores events that another process passed. */
  async storePassed(events: readonly Event[]): Promise<StoredEvents> {
    const deliveries = await Promise.all(
      events.map((event) =>
        this.#plain.publish({ event, idempotency: null }).then(
          (result) => result.deliveries,
          () => null,
        ),
      ),
    );
    return this.#options.fanOut.confirmPassed(events, deliveries);
  }

  /** Other processes may still pass events while those passed by this one are awaited. */
  async stop(): Promise<void> {
    await this.#passer.stop();
    await Promise.all([this.#plain.stop(), this.#locking.stop()]);
  }
}
