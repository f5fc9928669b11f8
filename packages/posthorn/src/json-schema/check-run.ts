// The check of one value against a schema: its remaining budget, and the first failure. Nothing is kept of branches
// that did not match, so memory does not grow with the duration.
import { escapePointer } from "@posthorn/wire";
import type { InputProblem } from "../errors.ts";

/** Steps per value: 20 to 50 ms, at 20 to 50 ns per step. */
export const MAX_STEPS = 1_000_000;
/** Steps per call: 500 small events need a thousandth of it. */
export const MAX_STEPS_OF_CALL = 10_000_000;
/** Depth of nested schemas, including references: each level takes up to 1 KB of a stack of 1 MB. */
export const MAX_NESTED_CHECKS = 500;

/** The remaining steps of one call. */
export class CheckBudget {
  stepsLeft = MAX_STEPS_OF_CALL;
}

export class OutOfSteps extends Error {}

export type Check = (value: unknown, run: CheckRun) => boolean;

export class CheckRun {
  #stepsLeft: number;
  #depth = 0;
  #message = "";
  /** Names from the innermost outwards. */
  readonly #path: string[] = [];
  /** The members and items of the current value that some schema has evaluated; null if not needed. */
  marks: Marks | null = null;

  constructor(steps: number) {
    this.#stepsLeft = steps;
  }

  get stepsLeft(): number {
    return Math.max(0, this.#stepsLeft);
  }

  get problem(): InputProblem {
    const pointer = this.#path.map((name) => `/${escapePointer(name)}`).toReversed();
    return { pointer: pointer.join(""), message: this.#message };
  }

  readonly spend = (steps: number): void => {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new OutOfSteps();
  };

  enter(steps: number): void {
    this.#depth += 1;
    if (this.#depth > MAX_NESTED_CHECKS) throw new OutOfSteps();
    this.spend(steps);
  }

  leave(): void {
    this.#depth -= 1;
  }

  /** Replaces a failure found deeper in the value. */
  fail(message: string): false {
    this.#message = message;
    this.#path.length = 0;
    return false;
  }

  /** The failure is in this part of the current value. */
  failedAt(name: string): false {
    this.#path.push(name);
    return false;
  }
}

/** Used by `unevaluatedProperties` and `unevaluatedItems`. */
export class Marks {
  readonly names = new Set<string>();
  readonly items = new Set<number>();
  /** All items before this index. */
  itemsUpTo = 0;

  add(others: Marks, run: CheckRun): void {
    run.spend(2 + 2 * (others.names.size + others.items.size));
    for (const name of others.names) this.names.add(name);
    for (const item of others.items) this.items.add(item);
    this.itemsUpTo = Math.max(this.itemsUpTo, others.itemsUpTo);
  }
}
