// What is done to the processes, and when: a plan that follows from the seed alone.
import type { Scale } from "./options.ts";
import { stream } from "./random.ts";

/** Each on one process, or on the database and so on all of them. */
const targets = {
  "kill worker": "worker",
  "freeze worker": "worker",
  "terminate worker": "worker",
  "kill api": "api",
  "restart database": "database",
  "terminate backends": "database",
  "read only": "database",
  "cut off": "client",
  "lose replies": "client",
  partition: "client",
  "slow network": "client",
} as const;
export type StrikeKind = keyof typeof targets;
export const strikeKinds = Object.keys(targets) as StrikeKind[];

export function strikesAll(kind: StrikeKind): boolean {
  return targets[kind] === "database";
}

export interface Strike {
  /** Milliseconds after the strikes begin. */
  readonly afterMs: number;
  readonly kind: StrikeKind;
  /** In [0, 1): chooses among those who can be struck when the time has come. */
  readonly choice: number;
  /** How long it lasts, or how long until what was ended is started again. */
  readonly forMs: number;
  readonly replies: LostReplies;
}

/** Replies to a statement, by its name or text, that are lost on their way to a process that sends it. */
export interface LostReplies {
  readonly statement: string;
  readonly to: "api" | "worker" | "library";
}

const replies: readonly LostReplies[] = [
  { statement: "posthorn ingest", to: "api" },
  { statement: "commit", to: "library" },
  { statement: "posthorn settle", to: "worker" },
  { statement: "posthorn fetch", to: "worker" },
];

export function planStrikes(seed: number, scale: Scale, kinds: readonly StrikeKind[]): Strike[] {
  if (kinds.length === 0) return [];
  const random = stream(seed, "strikes");
  const [least, most] = scale.pauseMs;
  const strikes: Strike[] = [];
  let deck: StrikeKind[] = [];
  // the last strike has time to do harm
  for (let at = 0; at < scale.chaosMs - most; at += random.between(least, most)) {
    // dealt from a deck: in a short run, too, each kind has its turn
    if (deck.length === 0) deck = random.shuffle(kinds);
    const kind = deck.pop() as StrikeKind;
    strikes.push({
      afterMs: Math.round(at),
      kind,
      choice: random.fraction(),
      forMs: Math.round(durationOf(kind, scale, random.fraction())),
      replies: random.pick(replies),
    });
  }
  return strikes;
}

function durationOf(kind: StrikeKind, { leaseMs }: Scale, share: number): number {
  switch (kind) {
    // past the lease: it wakes up while those who took over are at work, or after they are done
    case "freeze worker":
      return leaseMs * (1.2 + 0.8 * share);
    case "partition":
      return leaseMs * (0.5 + 1.5 * share);
    case "read only":
    case "slow network":
      return leaseMs * (0.3 + 0.7 * share);
    default:
      return 200 + 600 * share;
  }
}
