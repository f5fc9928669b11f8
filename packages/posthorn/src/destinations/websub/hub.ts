// The hub's own work, beside the deliveries: verifying what was asked for, and fetching what was pinged. Each has a loop of
// its own, so that a publisher that hangs keeps no subscriber waiting.
import type { Logger } from "../../observe/log.ts";
import type { InFlight } from "../../service/in-flight.ts";
import { Loop } from "../../service/loop.ts";
import type { DestinationService } from "../destination.ts";

type Places = Pick<InFlight<unknown>, "begin" | "drain" | "onFree">;

export interface HubOptions {
  readonly logger: Logger;
  readonly verifications: Places;
  readonly fetches: Places;
  readonly tidyUp: () => Promise<void>;
  /** Cuts off the requests in flight. */
  readonly abort: () => void;
}

/** Requests come to any process; one that takes none looks for them. */
const pollMs = 1_000;

export class Hub implements DestinationService {
  readonly publishes = true;
  readonly upkeep: DestinationService["upkeep"];
  readonly #abort: () => void;
  readonly #parts: readonly { readonly loop: Loop; readonly inFlight: Places }[];

  constructor({ logger, verifications, fetches, tidyUp, abort }: HubOptions) {
    this.upkeep = { "ending subscriptions": tidyUp };
    this.#abort = abort;
    this.#parts = [
      partOf("verifying subscriptions", verifications, logger),
      partOf("fetching topics", fetches, logger),
    ];
  }

  async start(): Promise<void> {
    for (const { loop } of this.#parts) await loop.start();
  }

  /** Waits for no receiver: what is cut off is due again at once, for other processes. */
  async stop(): Promise<void> {
    this.#abort();
    await Promise.all(this.#parts.map(({ loop }) => loop.stop()));
    await Promise.all(this.#parts.map(({ inFlight }) => inFlight.drain()));
  }

  wake(): void {
    for (const { loop } of this.#parts) loop.wake();
  }

  /** Everything the loops would do by and by, done now: what is asked for first may make room for what comes after it. */
  async turn(): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(this.#parts.map(({ loop }) => loop.turn()));
      await Promise.all(this.#parts.map(({ inFlight }) => inFlight.drain()));
    }
  }
}

function partOf(name: string, inFlight: Places, logger: Logger) {
  const loop = new Loop({ name, logger, intervalMs: pollMs, step: () => inFlight.begin() });
  inFlight.onFree = () => loop.wake();
  return { loop, inFlight };
}
