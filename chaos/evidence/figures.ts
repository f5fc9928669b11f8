// The figures of a run and its last line.

import { duplicates, unknownOutcomes } from "../invariants/duplicates.ts";
import { noPhantom, nothingLost } from "../invariants/events.ts";
import { order } from "../invariants/order.ts";
import { interruptions } from "../invariants/processes.ts";
import { type IndexedEvidence, isSuccess } from "./evidence.ts";
import { percentile } from "./percentile.ts";

export interface Figures {
  readonly acknowledged: number;
  readonly delivered: number;
  readonly lost: number;
  readonly phantom: number;
  readonly duplicates: number;
  readonly duplicateBound: number;
  readonly outOfOrder: number;
  /** Null if no kill interrupted a request. */
  readonly recoverP99Ms: number | null;
  readonly kills: number;
  readonly databaseRestarts: number;
}

export function figuresOf(evidence: IndexedEvidence): Figures {
  const delivered = [...evidence.requestsOf.values()].filter((requests) =>
    requests.some(({ status }) => isSuccess(status)),
  );
  const waits = interruptions(evidence).map(
    ({ killedAt, again }) => (again?.at ?? Number.POSITIVE_INFINITY) - killedAt,
  );
  const count = (kinds: readonly string[]) =>
    evidence.injectedFaults.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    acknowledged: evidence.publishes.filter(({ fate }) => fate === "acknowledged").length,
    delivered: delivered.length,
    lost: nothingLost(evidence).length,
    phantom: noPhantom(evidence).length,
    duplicates: duplicates(evidence).length,
    duplicateBound: [...evidence.requestsOf.keys()].reduce(
      (sum, id) => sum + unknownOutcomes(evidence, id),
      0,
    ),
    outOfOrder: order(evidence).length,
    recoverP99Ms: waits.length === 0 ? null : percentile(waits, 0.99),
    kills: count(["kill worker", "kill api"]),
    databaseRestarts: count(["restart database"]),
  };
}

export function lineOf(seed: number, figures: Figures): string {
  const { acknowledged, delivered, lost, phantom, outOfOrder, kills, databaseRestarts } = figures;
  const dup = `dup ${figures.duplicates} (bound ${figures.duplicateBound})`;
  const { recoverP99Ms } = figures;
  const recover =
    recoverP99Ms === null ? "recover none" : `recover p99 ${(recoverP99Ms / 1_000).toFixed(1)} s`;
  return `seed ${seed}: acked ${acknowledged}, delivered ${delivered}, lost ${lost}, phantom ${phantom}, ${dup}, order ${outOfOrder}, ${recover}, kills ${kills}, pg restarts ${databaseRestarts}`;
}
