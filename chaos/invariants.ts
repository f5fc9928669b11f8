// What must hold whatever happened. Each is a pure function over the witnesses' logs; it returns counter-examples.

import type { CaseFile } from "./evidence.ts";
import { cap, isolation, singleFlight } from "./invariants/concurrency.ts";
import { counters } from "./invariants/counters.ts";
import { duplicateBound, noAttemptAfterSuccess, quietHasNoDuplicates } from "./invariants/duplicates.ts";
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
  readonly broken: (file: CaseFile) => string[];
}

export interface Verdict {
  readonly name: string;
  readonly sentence: string;
  readonly counterExamples: readonly string[];
}

export const invariants: readonly Invariant[] = [
  {
    name: "lost",
    sentence: "every acknowledged event reached every endpoint that asked for it",
    broken: nothingLost,
  },
  {
    name: "phantom",
    sentence: "what arrived was published, byte for byte, and signed for this endpoint alone",
    broken: noPhantom,
  },
  {
    name: "half",
    sentence: "an event whose publisher never learned its fate reached all its endpoints or none",
    broken: allOrNone,
  },
  {
    name: "idempotency",
    sentence: "one key is one event, in every acknowledgement and at every receiver",
    broken: idempotentPublish,
  },
  {
    name: "after success",
    sentence: "nothing is sent after the success of its delivery was recorded",
    broken: noAttemptAfterSuccess,
  },
  {
    name: "duplicates",
    sentence: "a second 2xx is explained by an attempt whose end the sender could not know",
    broken: duplicateBound,
  },
  {
    name: "quiet",
    sentence: "while nothing is broken, everything is sent exactly once",
    broken: quietHasNoDuplicates,
  },
  {
    name: "single flight",
    sentence: "two requests of one delivery overlap only where the first sender was taken for dead",
    broken: singleFlight,
  },
  {
    name: "order",
    sentence: "an ordered endpoint sees no event before the earlier ones of its subject were taken",
    broken: order,
  },
  {
    name: "ledger",
    sentence: "every request has its attempt in the ledger, and every answer in the ledger its request",
    broken: ledgerIsReality,
  },
  {
    name: "counters",
    sentence: "a process that lived to the end has counted what the ledger and the receivers know of it",
    broken: counters,
  },
  {
    name: "numbers",
    sentence: "attempts are numbered without a gap and end at the limit",
    broken: attemptNumbers,
  },
  {
    name: "schedule",
    sentence: "no retry comes before its time, or before the time the receiver asked for",
    broken: schedule,
  },
  {
    name: "liveness",
    sentence: "what is due is sent within a second, unless a fault or its endpoint is in the way",
    broken: liveness,
  },
  {
    name: "recovery",
    sentence: "what a killed worker had in flight is sent again within lease and poll",
    broken: recovery,
  },
  {
    name: "convergence",
    sentence:
      "after the healing nothing stays owed or connected, every process is up and every circuit closes",
    broken: convergence,
  },
  {
    name: "latency",
    sentence:
      "healthy endpoints are served as in the quiet while another one hangs, and all of them in the end",
    broken: latency,
  },
  {
    name: "memory",
    sentence: "no process grows by more than half from the quiet to the end",
    broken: memory,
  },
  { name: "isolation", sentence: "no endpoint sees another tenant's event", broken: isolation },
  { name: "cap", sentence: "no endpoint has more requests open than it allows", broken: cap },
  {
    name: "exits",
    sentence: "processes end only by our signals, in order when asked, and complain of nothing unexpected",
    broken: orderlyExits,
  },
  { name: "business rows", sentence: "an order exists if and only if its event does", broken: businessRows },
  {
    name: "timestamps",
    sentence: "signed times are right, also from a machine whose clock is an hour off or jumps",
    broken: freshTimestamps,
  },
  { name: "canaries", sentence: "no forbidden address is ever dialled", broken: canaries },
];
