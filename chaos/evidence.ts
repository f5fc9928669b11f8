// What the witnesses wrote down. The receivers' log and the publishers' log come first; the database is only the
// second witness. Times are milliseconds of the machine's monotonic clock unless the name says otherwise.
import type { Scale } from "./options.ts";
import type { StrikeKind } from "./strikes.ts";

export interface EndpointFacts {
  /** `r1`, and the path at which it is called. */
  readonly name: string;
  /** `ep_…` */
  readonly id: string;
  readonly tenant: string;
  readonly events: readonly string[];
  readonly maxInFlight: number;
  readonly isOrdered: boolean;
}

/** A publish, whatever became of it. */
export interface Publish {
  /** Also in the event's data, so that the receiver knows it by more than its id. */
  readonly key: string;
  readonly publisher: string;
  readonly tenant: string;
  readonly type: string;
  readonly subject: string;
  /** Of the bytes of its data. */
  readonly sha256: string;
  /** `open` to the end: given up, and nobody knows whether it was stored. `refused`: also rolled back. */
  fate: "acknowledged" | "open" | "refused";
  /** Of every acknowledgement. */
  readonly ids: string[];
  /** Of the first acknowledgement. */
  acknowledgedAt: number | null;
}

export interface ReceivedRequest {
  readonly endpoint: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  /** The process that sent it, by its user agent. */
  readonly sender: string;
  readonly arrivedAt: number;
  /** What the receiver did with it. */
  readonly manner: string;
  /** When the receiver was done with it, or the sender went away. */
  readonly endedAt: number;
  /** When the status line was written; null when none was. */
  readonly answeredAt: number | null;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** Null when the body was not read. */
  readonly content: ReceivedContent | null;
}

export interface ReceivedContent {
  readonly key: string;
  readonly tenant: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  /** Of the bytes of `data` in the body. */
  readonly sha256: string;
  /** Names of all endpoints whose secret the signature fits, by scheme. */
  readonly signedFor: { readonly "t-v1": readonly string[]; readonly "standard-webhooks": readonly string[] };
  /** The signed time less the receiver's. */
  readonly timestampAheadMs: number;
}

export interface LedgerAttempt {
  readonly deliveryId: string;
  readonly number: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  /** The database's time, as all times of the ledger, turned into the monotonic clock's; null for an unknown end. */
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  /** Null when it was the last one, and for an unknown end: then it is owed at once. */
  readonly nextRetryAt: number | null;
}

/** How an endpoint was doing, from when it was written down until the next such line. */
export interface HealthLine {
  readonly endpointId: string;
  readonly at: number;
  /** The circuit is open or half-open. */
  readonly isOnTrial: boolean;
  readonly throttledUntil: number | null;
}

export interface LedgerDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly state: string;
  readonly attempts: number;
}

/** A row of the publishers' own table, written in the transaction that published. */
export interface Order {
  readonly key: string;
  readonly eventId: string;
}

export interface Deed {
  readonly kind: StrikeKind;
  /** `w1.2`, the second process in the place `w1`. */
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
  /** What we sent it, and when. */
  readonly asked: { readonly signal: "SIGKILL" | "SIGTERM"; readonly at: number } | null;
}

/** Of a process that lived to the end. */
export interface ProcessCounters {
  readonly process: string;
  /** Attempts that got a status. */
  readonly answered: number;
  /** Those of them that got a 2xx. */
  readonly succeeded: number;
}

export interface Evidence {
  readonly scale: Scale;
  readonly endpoints: readonly EndpointFacts[];
  readonly publishes: readonly Publish[];
  readonly requests: readonly ReceivedRequest[];
  readonly deliveries: readonly LedgerDelivery[];
  readonly attempts: readonly LedgerAttempt[];
  /** `evt_…` of all that are stored, with the key in their data. */
  readonly events: readonly { readonly id: string; readonly key: string }[];
  readonly orders: readonly Order[];
  readonly health: readonly HealthLine[];
  readonly counters: readonly ProcessCounters[];
  readonly deeds: readonly Deed[];
  readonly exits: readonly Exit[];
  /** Lines of standard error that are no log lines, or log lines of the level error. */
  readonly complaints: readonly string[];
  /** The machine was busy with something else, as far as this process could tell. */
  readonly stalls: readonly Stretch[];
  /** Connections to addresses that no delivery may be sent to. */
  readonly canaryHits: readonly string[];
  readonly quiet: Stretch & { readonly memory: Memory };
  /** One receiver answered nothing, and the others were well. */
  readonly blackHole: Stretch & { readonly endpoint: string };
  readonly healedAt: number;
  /** Null: something was still owed when patience ended. */
  readonly convergedAt: number | null;
  /** What was still not as it should be when patience ended. */
  readonly unsettled: readonly string[];
  /** After everything was delivered; null when it was not, or nothing was published any more. */
  readonly calm: (Stretch & { readonly memory: Memory }) | null;
}

/** Resident bytes of the largest process of each role. */
export interface Memory {
  readonly api: number;
  readonly worker: number;
}

export interface Stretch {
  readonly from: number;
  readonly until: number;
}

/** The evidence with what is looked up again and again. */
export interface CaseFile extends Evidence {
  readonly requestsOf: ReadonlyMap<string, readonly ReceivedRequest[]>;
  readonly attemptsOf: ReadonlyMap<string, ReadonlyMap<number, LedgerAttempt>>;
  readonly publishOf: ReadonlyMap<string, Publish>;
  readonly endpointNamed: ReadonlyMap<string, EndpointFacts>;
}

export function openCase(evidence: Evidence): CaseFile {
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

/** Which endpoints an event must reach. */
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
