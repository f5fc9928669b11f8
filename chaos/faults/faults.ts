// The plan of faults, determined by the seed.
import type { Scale } from "../options.ts";
import { stream } from "../random.ts";

/** The target of each kind of fault. */
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
export type FaultKind = keyof typeof targets;
export const faultKinds = Object.keys(targets) as FaultKind[];

export function hitsDatabase(kind: FaultKind): boolean {
  return targets[kind] === "database";
}

/** Returns false for faults that must have no effect. */
export function isDisruptive(kind: FaultKind): boolean {
  return targets[kind] !== "clock";
}

export interface Fault {
  /** Milliseconds after the start of the fault phase. */
  readonly afterMs: number;
  readonly kind: FaultKind;
  /** In [0, 1): selects the affected process when the fault is injected. */
  readonly choice: number;
  /** Duration of the fault, or time until an ended process is started again. */
  readonly forMs: number;
  readonly replies: LostReplies;
  /** How far the clock jumps, and later jumps back. */
  readonly clockStepMs: number;
}

/** A statement, by name or text, and the kind of process that loses the replies to it. */
export interface LostReplies {
  readonly statement: string;
  readonly to: "api" | "worker" | "library";
}

const replies: readonly LostReplies[] = [
  { statement: "posthorn ingest", to: "api" },
  { statement: "posthorn write", to: "api" },
  { statement: "posthorn write", to: "worker" },
  { statement: "commit", to: "library" },
  { statement: "posthorn settle", to: "worker" },
  { statement: "posthorn fetch", to: "worker" },
];

const hourMs = 3_600_000;
/** Time until faulty receivers have open requests that a kill can interrupt. */
const busyMs = 1_000;
/** No other fault follows the first kill for the lease and this time, so that its recovery can be measured. */
const undisturbedMs = 2_000;

export function planFaults(seed: number, scale: Scale, kinds: readonly FaultKind[]): Fault[] {
  if (kinds.length === 0) return [];
  const random = stream(seed, "fault plan");
  const [least, most] = scale.pauseMs;
  const faults: Fault[] = [];
  let deck = random.shuffle(kinds);
  const lone = deck.indexOf("kill worker");
  if (lone !== -1) deck.push(...deck.splice(lone, 1));
  // the last fault needs time to take effect
  for (let at = busyMs; at < scale.chaosMs - most; at += random.between(least, most)) {
    const kind = deck.pop() as FaultKind;
    // drawn from a shuffled deck, so that short runs contain every kind too
    if (deck.length === 0) deck = random.shuffle(kinds);
    faults.push({
      afterMs: Math.round(at),
      kind,
      choice: random.fraction(),
      forMs: Math.round(durationOf(kind, scale, random.fraction())),
      replies: random.pick(replies),
      clockStepMs: random.pick([-hourMs, hourMs]),
    });
    if (faults.length === 1 && kind === "kill worker") at += scale.leaseMs + undisturbedMs;
  }
  return faults;
}

function durationOf(kind: FaultKind, { leaseMs }: Scale, share: number): number {
  switch (kind) {
    // longer than the lease: it resumes while other workers process its deliveries, or afterwards
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
