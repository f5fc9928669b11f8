// One value on its way through a schema: what it may still cost, and where it does not fit. Nothing is kept of branches
// that did not match, so memory does not grow with the time a check takes.
import { escapePointer } from "@posthorn/wire";
import type { InputProblem } from "../errors.ts";

/** For one value: 20 to 50 ms, since a step takes 20 to 50 ns. */
export const MAX_STEPS = 1_000_000;
/** For all values of a call: 500 small events need a thousandth of it. */
export const MAX_STEPS_OF_CALL = 10_000_000;
/** Schemas within schemas, references followed: each takes up to 1 KB of a stack of 1 MB. */
export const MAX_NESTED_CHECKS = 500;

/** What the checks of one call may still cost together. */
export class CheckBudget {
  stepsLeft = MAX_STEPS_OF_CALL;
}

export class OutOfSteps extends Error {}

export type Check = (value: unknown, run: CheckRun) => boolean;

export class CheckRun {
  #stepsLeft: number;
  #depth = 0;
  #message = "";
  /** Names from the inside out. */
  readonly #path: string[] = [];
  /** Which members and items of the value at hand some schema has looked at; null where nobody asks. */
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

  /** Takes the place of what failed further inside. */
  fail(message: string): false {
    this.#message = message;
    this.#path.length = 0;
    return false;
  }

  /** What failed is a part of the value at hand. */
  failedAt(name: string): false {
    this.#path.push(name);
    return false;
  }
}

/** For `unevaluatedProperties` and `unevaluatedItems`. */
export class Marks {
  readonly names = new Set<string>();
  readonly items = new Set<number>();
  /** All items before this one. */
  itemsUpTo = 0;

  add(others: Marks, run: CheckRun): void {
    run.spend(2 + 2 * (others.names.size + others.items.size));
    for (const name of others.names) this.names.add(name);
    for (const item of others.items) this.items.add(item);
    this.itemsUpTo = Math.max(this.itemsUpTo, others.itemsUpTo);
  }
}
