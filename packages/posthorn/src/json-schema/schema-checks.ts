// Compiles a JSON Schema 2020-12 to nested functions. Every evaluated schema costs steps before it runs, and keywords
// whose work grows with the value cost accordingly.
import { type Check, type CheckRun, Marks } from "./check-run.ts";
import { arrayChecks, numberChecks, objectChecks, stringChecks, valueChecks } from "./keyword-checks.ts";
import { children, schemaAt } from "./schema-limits.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** Compiles subschemas. */
export interface Compiler {
  /** Applied to the same value. */
  inPlace(schema: unknown): Check;
  /** Applied to an item, a member or a negation: its evaluated properties do not count for the value. */
  apart(schema: unknown): Check;
  /** The target of a `$ref`. */
  referred(reference: string): Check;
}

export function schemaCheck(root: Schema): Check {
  const tracks = usesUnevaluated(root);
  const known = new Map<unknown, Check>();
  const compiler: Compiler = {
    inPlace,
    apart: (schema) => (tracks ? apart(inPlace(schema)) : inPlace(schema)),
    referred(reference) {
      const target = schemaAt(root, reference.slice(1));
      if (typeof target === "boolean") return inPlace(target);
      // resolved when it is first used, because it may be circular
      let check: Check | undefined;
      return (value, run) => {
        check ??= known.get(target) as Check;
        return check(value, run);
      };
    },
  };
  compileAll(root);
  return inPlace(root);

  /** Compiles everything in advance, including schemas that only references reach. */
  function compileAll(schema: Schema): void {
    inPlace(schema);
    for (const [, inner] of children(schema)) compileAll(inner);
  }

  function inPlace(schema: unknown): Check {
    if (schema === true) return () => true;
    if (schema === false) return (_value, run) => run.fail("is not allowed");
    const compiled = known.get(schema) ?? checkOf(schema as Schema, compiler);
    const check = tracks && !known.has(schema) ? tracked(compiled) : compiled;
    known.set(schema, check);
    return check;
  }
}

function usesUnevaluated(schema: Schema): boolean {
  return (
    schema.unevaluatedProperties !== undefined ||
    schema.unevaluatedItems !== undefined ||
    children(schema).some(([, inner]) => usesUnevaluated(inner))
  );
}

function checkOf(schema: Schema, compiler: Compiler): Check {
  const always = valueChecks(schema, compiler);
  const ofString = stringChecks(schema);
  const ofNumber = numberChecks(schema);
  const ofArray = arrayChecks(schema, compiler);
  const ofObject = objectChecks(schema, compiler);
  const steps = 1 + Math.ceil((always.length + namesIn(schema)) / 2);
  return (value, run) => {
    run.enter(steps);
    const isValid = allHold(always, value, run) && allHold(ofKind(value), value, run);
    run.leave();
    return isValid;
  };

  function ofKind(value: unknown): readonly Check[] {
    if (typeof value === "string") return ofString;
    if (typeof value === "number") return ofNumber;
    if (typeof value !== "object" || value === null) return NONE;
    return Array.isArray(value) ? ofArray : ofObject;
  }
}

function allHold(checks: readonly Check[], value: unknown, run: CheckRun): boolean {
  for (const check of checks) if (!check(value, run)) return false;
  return true;
}

const NONE: readonly Check[] = [];

/** The number of names that are looked up in an object, whether they exist or not. */
function namesIn({ properties, required, dependentRequired, dependentSchemas }: Schema): number {
  const named = [properties, required, dependentSchemas].map((names) => Object.keys(names ?? {}).length);
  const dependent = Object.values((dependentRequired ?? {}) as Record<string, string[]>);
  return [...named, ...dependent.map((names) => 1 + names.length)].reduce((sum, count) => sum + count, 0);
}

function tracked(check: Check): Check {
  return (value, run) => {
    const outer = run.marks;
    const own = new Marks();
    run.marks = own;
    const isValid = check(value, run);
    run.marks = outer;
    if (isValid) outer?.add(own, run);
    return isValid;
  };
}

function apart(check: Check): Check {
  return (value, run) => {
    const outer = run.marks;
    run.marks = null;
    const isValid = check(value, run);
    run.marks = outer;
    return isValid;
  };
}
