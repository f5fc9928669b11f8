// The hub's background work: verifying subscription requests and fetching pinged topics. Each has its own loop, so
// that a publisher that hangs delays no subscriber.
import type { Logger } from "../../observe/log.ts";
import type { InFlight } from "../../service/in-flight.ts";
import { Loop } from "../../service/loop.ts";
import type { DestinationService } from "../destination.ts";

type Places = Pick<InFlight<unknown>, "begin" | "drain" | "onFree">;

export interface HubOptions {
  readonly logger: Logger;
  readonly verifications: Places;
  readonly fetches: Places;
  readonly endExpired: () => Promise<void>;
  /** Aborts the requests in flight. */
  readonly abort: () => void;
}

/** Requests may arrive at another process, so this one polls. */
const pollMs = 1_000;

export class Hub implements DestinationService {
  readonly publishes = true;
  readonly maintenanceTasks: DestinationService["maintenanceTasks"];
  readonly #abort: () => void;
  readonly #parts: readonly { readonly loop: Loop; readonly inFlight: Places }[];

  constructor({ logger, verifications, fetches, endExpired, abort }: HubOptions) {
    this.maintenanceTasks = { "ending subscriptions": endExpired };
    this.#abort = abort;
    this.#parts = [
      partOf("verifying subscriptions", verifications, logger),
      partOf("fetching topics", fetches, logger),
    ];
  }

  async start(): Promise<void> {
    for (const { loop } of this.#parts) await loop.start();
  }

  /** Does not wait for receivers: aborted requests are due again at once, for other processes. */
  async stop(): Promise<void> {
    this.#abort();
    await Promise.all(this.#parts.map(({ loop }) => loop.stop()));
    await Promise.all(this.#parts.map(({ inFlight }) => inFlight.drain()));
  }

  wake(): void {
    for (const { loop } of this.#parts) loop.wake();
  }

  /** Does now what the loops do periodically; twice, because the first round may free capacity for the second. */
  async runNow(): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(this.#parts.map(({ loop }) => loop.runNow()));
      await Promise.all(this.#parts.map(({ inFlight }) => inFlight.drain()));
    }
  }
}

function partOf(name: string, inFlight: Places, logger: Logger) {
  const loop = new Loop({ name, logger, intervalMs: pollMs, step: () => inFlight.begin() });
  inFlight.onFree = () => loop.wake();
  return { loop, inFlight };
}
