// Evaluates an endpoint's filter. Pure, without regular expressions: every condition reads each value of the payload
// at most once.

/** The part of an event that filters apply to. `data` is undefined if it is not JSON. */
export interface FilterFacts {
  readonly data: unknown;
  readonly subject: string | null;
}

/** The conditions on one value of the event, all of which must hold. */
export interface Filter {
  /** Conditions on the value as a whole, including arrays. */
  readonly ofWhole: readonly WholeCondition[];
  /** Conditions on the value; for an array, one element must satisfy all of them. */
  readonly ofElement: readonly ElementCondition[];
}

/** `pointer` locates the condition in the filter as it was written. */
export type WholeCondition =
  | { readonly kind: "exists"; readonly pointer: string; readonly isWanted: boolean }
  | { readonly kind: "every"; readonly pointer: string; readonly filters: readonly Filter[] }
  | { readonly kind: "some"; readonly pointer: string; readonly filters: readonly Filter[] }
  | { readonly kind: "not"; readonly pointer: string; readonly filter: Filter };

export type ElementCondition =
  | { readonly kind: "value"; readonly pointer: string; readonly holds: (value: unknown) => boolean }
  | { readonly kind: "field"; readonly pointer: string; readonly name: string; readonly filter: Filter };

export type Condition = WholeCondition | ElementCondition;

/**
 * The number of array elements that a filter reads per event: four times as many as the largest event has, 10 to 30
 * ms. Only many conditions on very long arrays need more, up to 130 ms during which nothing else is sent.
 */
export const maxElements = 500_000;

/**
 * Returns the first condition that does not hold, null if the event matches. It also matches if evaluating it would
 * take too long: a superfluous delivery is better than a missing one.
 */
export function failedCondition(filter: Filter, { data, subject }: FilterFacts): Condition | null {
  try {
    return failedAt(filter, { data, ...(subject !== null && { subject }) }, { elements: maxElements });
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

/** Stands for a redacted value. The result of a filter that reads one is redacted too. */
export const REDACTED_VALUE = Symbol("redacted");

/** Returns true if the filter reads a redacted value before it is decided. */
export function readsRedacted(filter: Filter, facts: FilterFacts): boolean {
  try {
    failedCondition(filter, facts);
    return false;
  } catch (error) {
    if (error instanceof RedactedValueRead) return true;
    throw error;
  }
}

class RedactedValueRead extends Error {}

/** The number of elements that may still be read. */
interface Allowance {
  elements: number;
}

class TooMuchWork extends Error {}

/** Data that is not JSON has no fields. */
export function readFacts(event: {
  readonly payload: Uint8Array;
  readonly subject: string | null;
}): FilterFacts {
  return { data: parsed(event.payload), subject: event.subject };
}

function parsed(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString());
  } catch {
    return undefined;
  }
}

/** A value of undefined is missing; JSON has no undefined. */
function failedAt({ ofWhole, ofElement }: Filter, value: unknown, left: Allowance): Condition | null {
  if (value === REDACTED_VALUE) throw new RedactedValueRead();
  for (const condition of ofWhole) {
    const failed = failedOfWhole(condition, value, left);
    if (failed !== null) return failed;
  }
  return ofElement.length === 0 ? null : failedOfElement(ofElement, value, left);
}

function failedOfWhole(condition: WholeCondition, value: unknown, left: Allowance): Condition | null {
  switch (condition.kind) {
    case "exists":
      return (value !== undefined) === condition.isWanted ? null : condition;
    case "every":
      for (const filter of condition.filters) {
        const failed = failedAt(filter, value, left);
        if (failed !== null) return failed;
      }
      return null;
    case "some":
      return condition.filters.some((filter) => failedAt(filter, value, left) === null) ? null : condition;
    case "not":
      return failedAt(condition.filter, value, left) === null ? condition : null;
  }
}

/** For an array, returns the condition that the first element fails. */
function failedOfElement(
  conditions: readonly ElementCondition[],
  value: unknown,
  left: Allowance,
): Condition | null {
  if (value === REDACTED_VALUE) throw new RedactedValueRead();
  if (!Array.isArray(value)) return failedOfOne(conditions, value, left);
  left.elements -= value.length;
  if (left.elements < 0) throw new TooMuchWork();
  let first: Condition | null = null;
  for (const element of value) {
    const failed = failedOfElement(conditions, element, left);
    if (failed === null) return null;
    first ??= failed;
  }
  return first ?? (conditions[0] as Condition);
}

function failedOfOne(
  conditions: readonly ElementCondition[],
  value: unknown,
  left: Allowance,
): Condition | null {
  for (const condition of conditions) {
    if (condition.kind === "field") {
      const failed = failedAt(condition.filter, fieldOf(value, condition.name), left);
      if (failed !== null) return failed;
    } else if (!condition.holds(value)) return condition;
  }
  return null;
}

/** Reads own fields only: `__proto__` and `constructor` are ordinary names. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
