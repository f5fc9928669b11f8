// Parses a filter as users write it: objects that mirror the event, with operators that begin with `$`. Reports all
// problems at once, each with a pointer.
import { didYouMean, escapePointer, isObject } from "@posthorn/wire";
import type { InputProblem } from "../errors.ts";
import type { ElementCondition, Filter, WholeCondition } from "./filter.ts";

export const maxFilterBytes = 8 * 1024;
export const maxFilterDepth = 32;
/** Each condition reads the payload once. */
export const maxFilterConditions = 64;
export const maxFilterList = 100;

export type ParsedFilter =
  | { readonly ok: true; readonly filter: Filter }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

export function parseFilter(input: unknown): ParsedFilter {
  const reader = new FilterReader();
  const filter = reader.readRoot(input);
  const { problems } = reader;
  return problems.length === 0 ? { ok: true, filter } : { ok: false, problems };
}

const EXAMPLE = '{"data": {"amount": {"$gte": 100}}, "subject": {"$startsWith": "order-"}}';
const ROOT_FIELDS = ["data", "subject"];
const COMBINING = ["$and", "$or", "$not"];
const COMPARING = ["$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$startsWith", "$exists"];
export const OPERATORS = [...COMPARING, ...COMBINING];
/** Further problems are not reported. */
const maxProblems = 20;

type Scalar = string | number | boolean | null;
type Holds = (value: unknown) => boolean;

class FilterReader {
  readonly problems: InputProblem[] = [];
  #conditions = 0;

  readRoot(input: unknown): Filter {
    if (!isObject(input)) {
      this.#refuse("", `A filter is an object such as ${EXAMPLE}, or null for none.`);
      return NOTHING;
    }
    const filter = this.#readObject(input, "", 1, true);
    if (this.#conditions > maxFilterConditions)
      this.#refuse("", `A filter has at most ${maxFilterConditions} conditions.`);
    // last, because a cyclic value has no JSON
    if (this.problems.length === 0) this.#checkBytes(input);
    return filter;
  }

  #checkBytes(input: object): void {
    const bytes = Buffer.byteLength(JSON.stringify(input));
    if (bytes > maxFilterBytes)
      this.#refuse("", `This filter has ${bytes} bytes of JSON. The limit is ${maxFilterBytes}.`);
  }

  /** A bare value is short for `$eq`. */
  #readPlace(input: unknown, pointer: string, depth: number, isRoot: boolean): Filter {
    if (isObject(input)) return this.#readObject(input, pointer, depth, isRoot);
    if (isRoot) this.#refuse(pointer, `A filter is an object such as ${EXAMPLE}.`);
    else if (Array.isArray(input))
      this.#refuse(pointer, 'A list is not a condition. For one of several values write {"$in": […]}.');
    else return ofElement(this.#readOperator("$eq", input, pointer, depth));
    return NOTHING;
  }

  #readObject(input: object, pointer: string, depth: number, isRoot: boolean): Filter {
    if (depth > maxFilterDepth) return merged(this.#refuseDepth(pointer));
    const entries = Object.entries(input);
    if (entries.length === 0)
      this.#refuse(pointer, "This is empty. Write a condition, or omit it; null means no filter.");
    return merged(
      entries.map(([key, value]) =>
        this.#readEntry(key, value, `${pointer}/${escapePointer(key.slice(0, 100))}`, depth, isRoot),
      ),
    );
  }

  #readEntry(key: string, value: unknown, pointer: string, depth: number, isRoot: boolean): Filter {
    const isEnough = this.problems.length >= maxProblems || this.#conditions > maxFilterConditions;
    if (isEnough) return NOTHING;
    if (!isStorable(key)) this.#refuse(pointer, "A name must not contain NUL or a lone surrogate.");
    if (key.startsWith("$") && !key.startsWith("$$"))
      return this.#readDollar(key, value, pointer, depth, isRoot);
    if (isRoot && !ROOT_FIELDS.includes(key)) {
      const shown = `A filter applies to data and subject, not "${key.slice(0, 60)}".`;
      this.#refuse(pointer, `${shown} ${didYouMean(key, [...ROOT_FIELDS, ...COMBINING])}`);
      return NOTHING;
    }
    // `$$name` is the field `$name`
    const name = key.startsWith("$$") ? key.slice(1) : key;
    const filter = this.#readPlace(value, pointer, depth + 1, false);
    return ofElement({ kind: "field", pointer, name, filter });
  }

  #readDollar(key: string, value: unknown, pointer: string, depth: number, isRoot: boolean): Filter {
    const known = isRoot ? COMBINING : OPERATORS;
    if (!known.includes(key)) {
      const what = OPERATORS.includes(key)
        ? `"${key}" applies to a value: write it below data or subject.`
        : `There is no operator "${key.slice(0, 60)}". ${didYouMean(key, known)} A field of that name is written "$${key.slice(0, 60)}".`;
      this.#refuse(pointer, what);
      return NOTHING;
    }
    if (key === "$not")
      return ofWhole({ kind: "not", pointer, filter: this.#readPlace(value, pointer, depth + 1, isRoot) });
    if (key === "$and" || key === "$or") {
      const kind = key === "$and" ? "every" : "some";
      const filters = this.#readList(value, pointer, depth + 1, "conditions").map((item, index) =>
        this.#readPlace(item, `${pointer}/${index}`, depth + 2, isRoot),
      );
      return ofWhole({ kind, pointer, filters });
    }
    if (key === "$exists") {
      this.#conditions += 1;
      if (typeof value !== "boolean") this.#refuse(pointer, '"$exists" takes true or false.');
      return ofWhole({ kind: "exists", pointer, isWanted: value === true });
    }
    if (key === "$ne") return negated(this.#readOperator("$eq", value, pointer, depth));
    if (key === "$nin") return negated(this.#readOperator("$in", value, pointer, depth));
    return ofElement(this.#readOperator(key, value, pointer, depth));
  }

  #readOperator(operator: string, value: unknown, pointer: string, depth: number): ElementCondition {
    this.#conditions += 1;
    if (operator === "$in") {
      const values = new Set<unknown>(
        this.#readList(value, pointer, depth + 1, "values").map((item, index) =>
          this.#readScalar(item, `${pointer}/${index}`),
        ),
      );
      return { kind: "value", pointer, holds: (given) => values.has(given) };
    }
    if (operator === "$eq") {
      const wanted = this.#readScalar(value, pointer);
      return { kind: "value", pointer, holds: (given) => given === wanted };
    }
    if (operator === "$startsWith")
      return { kind: "value", pointer, holds: this.#readPrefix(value, pointer) };
    return { kind: "value", pointer, holds: this.#readRange(operator, value, pointer) };
  }

  #readPrefix(value: unknown, pointer: string): Holds {
    if (typeof value !== "string" || value === "")
      this.#refuse(pointer, '"$startsWith" takes a string of one character or more.');
    else this.#readScalar(value, pointer);
    return (given) => typeof given === "string" && given.startsWith(value as string);
  }

  /** Compares numbers with numbers and strings with strings; a comparison of different types does not hold. */
  #readRange(operator: string, limit: unknown, pointer: string): Holds {
    if (typeof limit !== "number" && typeof limit !== "string") {
      this.#refuse(pointer, `"${operator}" takes a number or a string.`);
      return () => false;
    }
    this.#readScalar(limit, pointer);
    const compare = RANGES[operator] as (given: Comparable, limit: Comparable) => boolean;
    return (given) => typeof given === typeof limit && compare(given as Comparable, limit);
  }

  #readList(value: unknown, pointer: string, depth: number, what: string): readonly unknown[] {
    if (depth > maxFilterDepth) return this.#refuseDepth(pointer);
    if (Array.isArray(value) && value.length >= 1 && value.length <= maxFilterList) return value;
    this.#refuse(pointer, `This takes a list of 1 to ${maxFilterList} ${what}.`);
    return [];
  }

  #readScalar(value: unknown, pointer: string): Scalar {
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "string") {
      if (!isStorable(value)) this.#refuse(pointer, "A string must not contain NUL or a lone surrogate.");
      return value;
    }
    if (typeof value === "number") {
      if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
      this.#refuse(
        pointer,
        "Numbers beyond 9007199254740991 (2^53 − 1) are not compared exactly. Publish such an id as a string, and compare it as a string.",
      );
      return null;
    }
    this.#refuse(pointer, "This takes a string, a number, true, false or null.");
    return null;
  }

  #refuseDepth(pointer: string): [] {
    this.#refuse(pointer, `A filter is at most ${maxFilterDepth} levels deep.`);
    return [];
  }

  #refuse(pointer: string, message: string): void {
    this.problems.push({ pointer, message });
  }
}

type Comparable = string | number;

const RANGES: Readonly<Record<string, (given: Comparable, limit: Comparable) => boolean>> = {
  $gt: (given, limit) => given > limit,
  $gte: (given, limit) => given >= limit,
  $lt: (given, limit) => given < limit,
  $lte: (given, limit) => given <= limit,
};

const NOTHING: Filter = { ofWhole: [], ofElement: [] };

function ofWhole(condition: WholeCondition): Filter {
  return { ofWhole: [condition], ofElement: [] };
}

function ofElement(condition: ElementCondition): Filter {
  return { ofWhole: [], ofElement: [condition] };
}

/** For an array, holds if no element satisfies the condition; also holds if the value is missing. */
function negated(condition: ElementCondition): Filter {
  return ofWhole({ kind: "not", pointer: condition.pointer, filter: ofElement(condition) });
}

function merged(filters: readonly Filter[]): Filter {
  return {
    ofWhole: filters.flatMap((filter) => filter.ofWhole),
    ofElement: filters.flatMap((filter) => filter.ofElement),
  };
}

/** PostgreSQL stores neither in JSON. */
function isStorable(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}
