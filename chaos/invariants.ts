// The invariants of a run. Each is a pure function of the evidence that returns counter-examples.

import type { IndexedEvidence } from "./evidence.ts";
import { cap, isolation, singleFlight } from "./invariants/concurrency.ts";
import { counters } from "./invariants/counters.ts";
import { baselineHasNoDuplicates, duplicateBound, noAttemptAfterSuccess } from "./invariants/duplicates.ts";
import { allOrNone, businessRows, idempotentPublish, noPhantom, nothingLost } from "./invariants/events.ts";
import { latency } from "./invariants/latency.ts";
import { attemptNumbers, ledgerIsReality, schedule } from "./invariants/ledger.ts";
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

export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  readonly broken: (evidence: IndexedEvidence) => string[];
}

export interface Verdict {
  readonly name: string;
  readonly sentence: string;
  readonly counterExamples: readonly string[];
}

export const invariants: readonly Invariant[] = [
  {
    name: "lost",
    sentence: "every acknowledged event reached every subscribed endpoint",
    broken: nothingLost,
  },
  {
    name: "phantom",
    sentence:
      "every received event was published, has the published bytes, and is signed for this endpoint only",
    broken: noPhantom,
  },
  {
    name: "partial",
    sentence: "an event whose publisher got no reply reached all its endpoints or none",
    broken: allOrNone,
  },
  {
    name: "idempotency",
    sentence: "an idempotency key always refers to one event",
    broken: idempotentPublish,
  },
  {
    name: "after success",
    sentence: "nothing is sent after a success was recorded",
    broken: noAttemptAfterSuccess,
  },
  {
    name: "duplicates",
    sentence: "every duplicate 2xx is explained by an attempt whose outcome the sender could not know",
    broken: duplicateBound,
  },
  {
    name: "baseline",
    sentence: "without faults everything is sent exactly once",
    broken: baselineHasNoDuplicates,
  },
  {
    name: "single flight",
    sentence: "two requests of a delivery overlap only if the first sender was declared dead",
    broken: singleFlight,
  },
  {
    name: "order",
    sentence: "an ordered endpoint gets no event before it accepted the earlier ones of the subject",
    broken: order,
  },
  {
    name: "ledger",
    sentence:
      "every request has an attempt in the database, and every recorded response was sent by a receiver",
    broken: ledgerIsReality,
  },
  {
    name: "counters",
    sentence: "the metrics of a running process agree with the database and the receivers",
    broken: counters,
  },
  {
    name: "numbers",
    sentence: "attempts are numbered without gaps and do not exceed the limit",
    broken: attemptNumbers,
  },
  {
    name: "schedule",
    sentence: "no retry comes before its scheduled time or before Retry-After",
    broken: schedule,
  },
  {
    name: "liveness",
    sentence: "due deliveries are sent within a second unless a fault or the endpoint prevents it",
    broken: liveness,
  },
  {
    name: "recovery",
    sentence: "what a killed worker had in flight is sent again within the lease and one poll",
    broken: recovery,
  },
  {
    name: "convergence",
    sentence:
      "after recovery the queue is empty, no connection is left over, all processes run and all circuits close",
    broken: convergence,
  },
  {
    name: "latency",
    sentence:
      "healthy endpoints are served as in the baseline while another one hangs, and all of them in the end",
    broken: latency,
  },
  {
    name: "memory",
    sentence: "no process grows by more than half from the baseline to the end",
    broken: memory,
  },
  { name: "isolation", sentence: "no endpoint gets another tenant's event", broken: isolation },
  { name: "cap", sentence: "no endpoint has more open requests than its limit", broken: cap },
  {
    name: "exits",
    sentence: "processes end only on request, stop gracefully on SIGTERM, and log no errors",
    broken: orderlyExits,
  },
  { name: "business rows", sentence: "an order exists if and only if its event does", broken: businessRows },
  {
    name: "timestamps",
    sentence: "signed timestamps are correct even on a machine whose clock is wrong or jumps",
    broken: freshTimestamps,
  },
  { name: "canaries", sentence: "no forbidden address is ever dialled", broken: canaries },
];
