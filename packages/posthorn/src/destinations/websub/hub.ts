// The hub's background work: verifying subscription requests and fetching pinged topics. Each has its own loop, so
// that a publisher that hangs delays no subscriber.

import type { ValidEvent } from "../../event/validate.ts";
import type { AttemptOutcome, PreparedRequest } from "../../model.ts";
import type { Logger } from "../../observe/log.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { PublishResult } from "../../publish/pending-events.ts";
import type { EndpointChange } from "../../resources/endpoints/changes.ts";
import type { Loop } from "../../service/loop.ts";
import type { Database } from "../../storage/database.ts";
import type { KeyRing } from "../../storage/key-ring.ts";
import type { DestinationService } from "../destination.ts";
import type { HubConfig } from "./options.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { TopicFetcher } from "./topic-fetcher.ts";
import { Verifier } from "./verifier.ts";

export interface HubOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly keyRing: KeyRing;
  readonly hub: HubConfig;
  readonly userAgent: string;
  /** Returns the database's time. */
  readonly nowMs: () => number;
  /** Called after the commit, to notify the lane's owner. */
  readonly onChanged: (change: EndpointChange) => void;
  readonly publish: (event: ValidEvent) => Promise<PublishResult>;
  /** Through the guarded dispatcher, like every request. */
  readonly send: (request: PreparedRequest, signal: AbortSignal) => Promise<AttemptOutcome>;
}

/** The hub's options for its parts, whose requests are aborted when it stops. */
export type HubContext = Omit<HubOptions, "send"> & {
  /** Requests a URL that comes from an anonymous party. */
  readonly get: (
    url: string,
    request: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly timeoutMs: number;
      readonly maxBodyBytes: number;
    },
  ) => Promise<AttemptOutcome>;
};

export class Hub implements DestinationService {
  readonly publishes = true;
  readonly maintenanceTasks: DestinationService["maintenanceTasks"];
  readonly #abort = new AbortController();
  readonly #loops: readonly Loop[];

  constructor(options: HubOptions) {
    const { userAgent, send } = options;
    const subscriptions = createSubscriptions(options);
    const get: HubContext["get"] = (url, { headers, timeoutMs, maxBodyBytes }) =>
      send(
        {
          tenant: null,
          url,
          headers: { "user-agent": userAgent, accept: "*/*", ...headers },
          body: new Uint8Array(),
          timeoutMs,
          method: "GET",
          isUntrusted: true,
          captureResponse: { maxBodyBytes },
        },
        this.#abort.signal,
      );
    const context = { ...options, get };
    this.maintenanceTasks = { "ending subscriptions": () => subscriptions.endExpired() };
    this.#loops = [new Verifier(context, subscriptions), new TopicFetcher(context)];
  }

  async start(): Promise<void> {
    for (const loop of this.#loops) await loop.start();
  }

  /** Does not wait for receivers: aborted requests are due again at once, for other processes. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  /** Does now what the loops do periodically; twice, because the first round may free capacity for the second. */
  async runNow(): Promise<void> {
    for (let round = 0; round < 2; round += 1) await Promise.all(this.#loops.map((loop) => loop.runNow()));
  }
}
