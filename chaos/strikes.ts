// What is done to the processes, and when: a plan that follows from the seed alone.
import type { Scale } from "./options.ts";
import { stream } from "./random.ts";

export const strikeKinds = [
  "kill worker",
  "freeze worker",
  "restart database",
  "lose replies",
  "kill api",
  "cut connections",
  "terminate worker",
  "swallow everything",
  "terminate backends",
  "slow network",
  "read only",
] as const;
export type StrikeKind = (typeof strikeKinds)[number];

export interface Strike {
  /** Milliseconds after the strikes begin. */
  readonly afterMs: number;
  readonly kind: StrikeKind;
  /** Chooses among those who can be struck when the time has come. */
  readonly choice: number;
  /** How long it lasts, or how long until what was ended is started again. */
  readonly forMs: number;
  /** Of the statement whose replies are lost. */
  readonly statement: string;
}

/** Names of prepared statements, and the caller's own commit. */
const statements = ["posthorn ingest", "commit", "posthorn settle", "posthorn fetch"];

export function planStrikes(seed: number, scale: Scale, only: readonly StrikeKind[]): Strike[] {
  const random = stream(seed, "strikes");
  const [least, most] = scale.pauseMs;
  const strikes: Strike[] = [];
  let deck: StrikeKind[] = [];
  // the last strike has time to do harm
  for (let at = 0; at < scale.chaosMs - most; at += random.between(least, most)) {
    // dealt from a deck: in a short run, too, each kind has its turn
    if (deck.length === 0) deck = random.shuffle(only.length > 0 ? only : strikeKinds);
    const kind = deck.pop() as StrikeKind;
    strikes.push({
      afterMs: Math.round(at),
      kind,
      choice: random.fraction(),
      forMs: Math.round(durationOf(kind, scale, random.fraction())),
      statement: random.pick(statements),
    });
  }
  return strikes;
}

function durationOf(kind: StrikeKind, { leaseMs }: Scale, share: number): number {
  switch (kind) {
    // past the lease: it wakes up while those who took over are at work, or after they are done
    case "freeze worker":
      return leaseMs * (1.2 + 0.8 * share);
    case "swallow everything":
    case "read only":
    case "slow network":
      return leaseMs * (0.3 + share);
    default:
      return 200 + 600 * share;
  }
}
