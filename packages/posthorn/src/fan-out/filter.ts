// Whether an event has what an endpoint's filter asks for. Pure, without regular expressions: every condition looks at
// each value of the payload at most once.

/** The part of an event that filters are about. `data` is undefined when it is no JSON. */
export interface FilterFacts {
  readonly data: unknown;
  readonly subject: string | null;
}

/** What is asked of one place in the event. All of it must hold. */
export interface Filter {
  /** Asked of the value as a whole, an array included. */
  readonly ofWhole: readonly WholeCondition[];
  /** Asked of the value, or together of one and the same element when it is an array. */
  readonly ofElement: readonly ElementCondition[];
}

/** `pointer` leads to the condition in the filter as it was written. */
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
 * Elements of arrays that a filter looks at in one event: four times as many as fit into the largest, 10 to 30 ms. Only
 * many conditions on very long arrays need more, up to 130 ms for which nothing else would be sent.
 */
export const maxElements = 500_000;

/**
 * The first condition that does not hold; null when the event matches. It matches too when that would be too much
 * work to tell: better one event more than one less.
 */
export function failedCondition(filter: Filter, { data, subject }: FilterFacts): Condition | null {
  try {
    return failedAt(filter, { data, ...(subject !== null && { subject }) }, { elements: maxElements });
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

/** Stands for a value that may not be told of. What comes of a filter that looks at one may not be told either. */
export const HIDDEN = Symbol("hidden");

/** Decided by what is not hidden alone: it looks at a hidden value, or comes to its end without one. */
export function looksAtHidden(filter: Filter, facts: FilterFacts): boolean {
  try {
    failedCondition(filter, facts);
    return false;
  } catch (error) {
    if (error instanceof MetHidden) return true;
    throw error;
  }
}

class MetHidden extends Error {}

/** What may still be looked at. */
interface Allowance {
  elements: number;
}

class TooMuchWork extends Error {}

/** Of bytes that are no JSON every field is missing. */
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

/** A value of undefined is missing; JSON has none. */
function failedAt({ ofWhole, ofElement }: Filter, value: unknown, left: Allowance): Condition | null {
  if (value === HIDDEN) throw new MetHidden();
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

/** Of an array, what the first element lacks. */
function failedOfElement(
  conditions: readonly ElementCondition[],
  value: unknown,
  left: Allowance,
): Condition | null {
  if (value === HIDDEN) throw new MetHidden();
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

/** Own fields only: `__proto__` and `constructor` are names like any other. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
