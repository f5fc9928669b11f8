// What is done to the processes, and when: a plan that follows from the seed alone.
import type { Scale } from "./options.ts";
import { stream } from "./random.ts";

/** Each on one process, or on the database and so on all of them, or on a clock that nobody should go by. */
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
  "jump clock": "clock",
} as const;
export type StrikeKind = keyof typeof targets;
export const strikeKinds = Object.keys(targets) as StrikeKind[];

export function strikesAll(kind: StrikeKind): boolean {
  return targets[kind] === "database";
}

/** False: whoever is struck must not even notice. */
export function disturbs(kind: StrikeKind): boolean {
  return targets[kind] !== "clock";
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
  /** How far a clock jumps, and jumps back in the end. */
  readonly clockStepMs: number;
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

const hourMs = 3_600_000;
/** Until receivers that misbehave have requests open that a kill interrupts. */
const busyMs = 1_000;
/** The first kill is left alone beyond the lease: how long it took to recover shows only where nothing else is broken. */
const aloneMs = 2_000;

export function planStrikes(seed: number, scale: Scale, kinds: readonly StrikeKind[]): Strike[] {
  if (kinds.length === 0) return [];
  const random = stream(seed, "strikes");
  const [least, most] = scale.pauseMs;
  const strikes: Strike[] = [];
  let deck = random.shuffle(kinds);
  const lone = deck.indexOf("kill worker");
  if (lone !== -1) deck.push(...deck.splice(lone, 1));
  // the last strike has time to do harm
  for (let at = busyMs; at < scale.chaosMs - most; at += random.between(least, most)) {
    const kind = deck.pop() as StrikeKind;
    // dealt from a deck: in a short run, too, each kind has its turn
    if (deck.length === 0) deck = random.shuffle(kinds);
    strikes.push({
      afterMs: Math.round(at),
      kind,
      choice: random.fraction(),
      forMs: Math.round(durationOf(kind, scale, random.fraction())),
      replies: random.pick(replies),
      clockStepMs: random.pick([-hourMs, hourMs]),
    });
    if (strikes.length === 1 && kind === "kill worker") at += scale.leaseMs + aloneMs;
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
    case "jump clock":
      return leaseMs * (0.3 + 0.7 * share);
    default:
      return 200 + 600 * share;
  }
}
