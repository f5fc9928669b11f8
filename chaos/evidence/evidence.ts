// The data that invariants check: the logs of receivers and publishers, and the database (the ledger). Times are
// milliseconds of the machine's monotonic clock unless the name says otherwise.

import type { FaultKind } from "../faults/faults.ts";
import type { Scale } from "../options.ts";
import { givenTime } from "./given-time.ts";

export interface EndpointFacts {
  /** `r1`; also its path. */
  readonly name: string;
  /** `ep_…` */
  readonly id: string;
  readonly tenant: string;
  readonly events: readonly string[];
  readonly maxInFlight: number;
  readonly isOrdered: boolean;
}

/** A publish with its outcome. */
export interface Publish {
  /** Also contained in the event's data. */
  readonly key: string;
  readonly publisher: string;
  readonly tenant: string;
  readonly type: string;
  readonly subject: string | null;
  /** SHA-256 of the data's bytes. */
  readonly sha256: string;
  /** `open`: the publisher gave up, and the event may or may not be stored. `refused`: rejected or rolled back. */
  fate: "acknowledged" | "open" | "refused";
  /** The event ids of all acknowledgements. */
  readonly ids: string[];
  /** Time of the first acknowledgement. */
  acknowledgedAt: number | null;
}

export interface ReceivedRequest {
  readonly endpoint: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  /** The process that sent it, from its user agent. */
  readonly sender: string;
  readonly arrivedAt: number;
  /** How the receiver responded. */
  readonly behaviour: string;
  /** When the receiver was done, or the sender disconnected. */
  readonly endedAt: number;
  /** When the status line was written, or null. */
  readonly respondedAt: number | null;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** Null if the body was not read. */
  readonly content: ReceivedContent | null;
}

export interface ReceivedContent {
  readonly key: string;
  readonly tenant: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  /** SHA-256 of the bytes of `data`. */
  readonly sha256: string;
  /** By scheme, the endpoints whose secret verifies the signature. */
  readonly signedFor: { readonly "t-v1": readonly string[]; readonly "standard-webhooks": readonly string[] };
  /** The signed time minus the receiver's. */
  readonly timestampAheadMs: number;
}

export interface LedgerAttempt {
  readonly deliveryId: string;
  readonly number: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  /** Database time converted to the monotonic clock; null for an unknown outcome. */
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  /** Null for the last attempt, and for an unknown outcome, which is retried at once. */
  readonly nextRetryAt: number | null;
}

/** The health of an endpoint from `at` until its next line. */
export interface HealthLine {
  readonly endpointId: string;
  readonly at: number;
  /** The circuit is open or half-open. */
  readonly isCircuitOpen: boolean;
  readonly throttledUntil: number | null;
}

export interface LedgerDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly state: string;
  readonly attempts: number;
}

/** A row of the publishers' own table, written in the publishing transaction. */
export interface Order {
  readonly key: string;
  readonly eventId: string;
}

export interface InjectedFault {
  readonly kind: FaultKind;
  /** The affected process, such as `w1.2`; null for the database. */
  readonly victim: string | null;
  readonly at: number;
  until: number;
}

export interface Exit {
  readonly name: string;
  readonly at: number;
  readonly code: number | null;
  readonly signal: string | null;
  readonly wasReady: boolean;
  /** The signal sent by the test, or null. */
  readonly signalSent: { readonly signal: "SIGKILL" | "SIGTERM"; readonly at: number } | null;
}

/** The counters of a process that is still running at the end. */
export interface ProcessCounters {
  readonly process: string;
  /** Attempts with a response. */
  readonly responded: number;
  /** Attempts with a 2xx. */
  readonly succeeded: number;
}

export interface Evidence {
  readonly scale: Scale;
  readonly endpoints: readonly EndpointFacts[];
  readonly publishes: readonly Publish[];
  readonly requests: readonly ReceivedRequest[];
  readonly deliveries: readonly LedgerDelivery[];
  readonly attempts: readonly LedgerAttempt[];
  /** All stored events, with the key in their data. */
  readonly events: readonly { readonly id: string; readonly key: string }[];
  readonly orders: readonly Order[];
  readonly health: readonly HealthLine[];
  readonly counters: readonly ProcessCounters[];
  readonly injectedFaults: readonly InjectedFault[];
  readonly exits: readonly Exit[];
  /** Lines on standard error that are not log lines, or log lines of level error. */
  readonly unexpectedOutput: readonly string[];
  /** When this process was not scheduled, so the machine was busy. */
  readonly stalls: readonly Interval[];
  /** In order, without overlaps. */
  readonly processor: readonly ProcessorSample[];
  /** Connections to forbidden addresses. */
  readonly canaryHits: readonly string[];
  readonly baseline: Interval & { readonly memory: Memory };
  /** When one receiver never responded and the others were healthy. */
  readonly blackHole: Interval & { readonly endpoint: string };
  readonly healedAt: number;
  /** Null if not everything was settled in time. */
  readonly convergedAt: number | null;
  /** Deliveries that were not settled in time. */
  readonly unsettled: readonly string[];
  /** The phase after everything was delivered; null if it did not take place. */
  readonly final: (Interval & { readonly memory: Memory }) | null;
}

/** Resident bytes of the largest process of each role. */
export interface Memory {
  readonly api: number;
  readonly worker: number;
}

export interface Interval {
  readonly from: number;
  readonly until: number;
}

export interface ProcessorSample extends Interval {
  /** The share of the time in which the processes under test wanted a processor and no other program kept it from them. */
  readonly share: number;
}

/** The evidence with lookup tables. */
export interface IndexedEvidence extends Evidence {
  readonly requestsOf: ReadonlyMap<string, readonly ReceivedRequest[]>;
  readonly attemptsOf: ReadonlyMap<string, ReadonlyMap<number, LedgerAttempt>>;
  readonly publishOf: ReadonlyMap<string, Publish>;
  readonly endpointNamed: ReadonlyMap<string, EndpointFacts>;
  /** Returns how much of the interval the machine gave to the processes under test. */
  givenMs(interval: Interval): number;
}

export function indexEvidence(evidence: Evidence): IndexedEvidence {
  const inOrder = evidence.requests.toSorted((a, b) => a.arrivedAt - b.arrivedAt);
  const requestsOf = groupBy(inOrder, ({ deliveryId }) => deliveryId);
  const attemptsOf = new Map<string, Map<number, LedgerAttempt>>();
  for (const attempt of evidence.attempts) {
    const numbered = attemptsOf.get(attempt.deliveryId) ?? new Map<number, LedgerAttempt>();
    attemptsOf.set(attempt.deliveryId, numbered.set(attempt.number, attempt));
  }
  return {
    ...evidence,
    requestsOf,
    attemptsOf,
    publishOf: new Map(evidence.publishes.map((publish) => [publish.key, publish])),
    endpointNamed: new Map(evidence.endpoints.map((endpoint) => [endpoint.name, endpoint])),
    givenMs: givenTime(evidence.processor),
  };
}

export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

export const isSuccess = (status: number | null): boolean =>
  status !== null && status >= 200 && status <= 299;

/** Returns the endpoints that an event must reach. */
export function expectedAt(
  { endpoints }: Pick<Evidence, "endpoints">,
  { tenant, type }: Pick<Publish, "tenant" | "type">,
): EndpointFacts[] {
  return endpoints.filter(
    (endpoint) =>
      endpoint.tenant === tenant &&
      endpoint.events.some(
        (wanted) =>
          wanted === "*" ||
          wanted === type ||
          (wanted.endsWith(".*") && type.startsWith(wanted.slice(0, -1))),
      ),
  );
}
