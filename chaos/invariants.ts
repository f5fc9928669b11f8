// The invariants of a run. Each is a pure function of the evidence.

import type { IndexedEvidence } from "./evidence/evidence.ts";
import { cap, isolation, singleFlight } from "./invariants/concurrency.ts";
import { counters } from "./invariants/counters.ts";
import { baselineHasNoDuplicates, duplicateBound, noAttemptAfterSuccess } from "./invariants/duplicates.ts";
import { allOrNone, businessRows, idempotentPublish, noPhantom, nothingLost } from "./invariants/events.ts";
import { latency } from "./invariants/latency.ts";
import { attemptNumbers, ledgerMatchesRequests, schedule } from "./invariants/ledger.ts";
import { liveness } from "./invariants/liveness.ts";
import { order } from "./invariants/order.ts";
import {
  canaries,
  convergence,
  freshTimestamps,
  memory,
  orderlyExits,
  recovery,
} from "./invariants/processes.ts";

/** The sentence, and the function that returns counter-examples. */
export type Invariant = readonly [sentence: string, broken: (evidence: IndexedEvidence) => string[]];

export interface Verdict {
  readonly name: string;
  readonly sentence: string;
  readonly counterExamples: readonly string[];
}

export const invariants: Readonly<Record<string, Invariant>> = {
  lost: ["every acknowledged event reached every subscribed endpoint", nothingLost],
  phantom: [
    "every received event was published, has the published bytes, and is signed for this endpoint only",
    noPhantom,
  ],
  partial: ["an event whose publisher got no reply reached all its endpoints or none", allOrNone],
  idempotency: ["an idempotency key always refers to one event", idempotentPublish],
  "after success": ["nothing is sent after a success was recorded", noAttemptAfterSuccess],
  duplicates: [
    "every duplicate 2xx is explained by an attempt whose outcome the sender could not know",
    duplicateBound,
  ],
  baseline: ["without faults everything is sent exactly once", baselineHasNoDuplicates],
  "single flight": [
    "two requests of a delivery overlap only if the first sender was declared dead",
    singleFlight,
  ],
  order: ["an ordered endpoint gets no event before it accepted the earlier ones of the subject", order],
  ledger: [
    "every request has an attempt in the database, and every recorded response was sent by a receiver",
    ledgerMatchesRequests,
  ],
  counters: ["the metrics of a running process agree with the database and the receivers", counters],
  numbers: ["attempts are numbered without gaps and do not exceed the limit", attemptNumbers],
  schedule: ["no retry comes before its scheduled time or before Retry-After", schedule],
  liveness: ["due deliveries are sent within a second unless a fault or the endpoint prevents it", liveness],
  recovery: ["what a killed worker had in flight is sent again within the lease and one poll", recovery],
  convergence: [
    "after recovery the queue is empty, no connection is left over, all processes run and all circuits close",
    convergence,
  ],
  latency: [
    "healthy endpoints are served as in the baseline while another one hangs, and all of them in the end",
    latency,
  ],
  memory: ["no process grows by more than half from the baseline to the end", memory],
  isolation: ["no endpoint gets another tenant's event", isolation],
  cap: ["no endpoint has more open requests than its limit", cap],
  exits: ["processes end only on request, stop gracefully on SIGTERM, and log no errors", orderlyExits],
  "business rows": ["an order exists if and only if its event does", businessRows],
  timestamps: [
    "signed timestamps are correct even on a machine whose clock is wrong or jumps",
    freshTimestamps,
  ],
  canaries: ["no forbidden address is ever dialled", canaries],
};

export function judgeAll(evidence: IndexedEvidence): Verdict[] {
  return Object.entries(invariants).map(([name, [sentence, broken]]) => ({
    name,
    sentence,
    counterExamples: broken(evidence),
  }));
}
