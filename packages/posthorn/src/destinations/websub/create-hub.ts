// Creates the hub from its parts.
import type { PublishResult } from "../../event/publisher.ts";
import type { ValidEvent } from "../../event/validate.ts";
import type { AttemptOutcome, PreparedRequest } from "../../model.ts";
import type { Logger } from "../../observe/log.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { EndpointChange } from "../../resources/endpoints/changes.ts";
import type { Database } from "../../storage/database.ts";
import type { KeyRing } from "../../storage/key-ring.ts";
import { Hub } from "./hub.ts";
import type { HubConfig } from "./options.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { TopicFetcher } from "./topic-fetcher.ts";
import { Verifier } from "./verifier.ts";

export interface HubParts {
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

export function createHub(parts: HubParts): Hub {
  const subscriptions = createSubscriptions(parts);
  const aborting = new AbortController();
  const send = (request: PreparedRequest) => parts.send(request, aborting.signal);
  return new Hub({
    logger: parts.logger,
    verifications: new Verifier({ ...parts, send, subscriptions }).inFlight,
    fetches: new TopicFetcher({ ...parts, send }).inFlight,
    abort: () => aborting.abort(),
    endExpired: () => subscriptions.endLapsed(),
  });
}
