// JSON Schema 2020-12 for untrusted values: the cost of a check is bounded for every schema and value.
import type { InputProblem } from "../errors.ts";
import { type Check, CheckBudget, CheckRun, MAX_NESTED_CHECKS, MAX_STEPS, OutOfSteps } from "./check-run.ts";
import { schemaCheck } from "./schema-checks.ts";
import { schemaProblems } from "./schema-limits.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ValueProblem extends InputProblem {
  /** The value may be valid: checking it would have taken too long. */
  readonly isTooComplex: boolean;
}

/** Returns null for a valid value, otherwise the first problem. Pointers are into the value. */
export type CheckValue = (value: unknown, budget?: CheckBudget) => ValueProblem | null;

export type Compiled =
  | { readonly ok: true; readonly check: CheckValue }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

export function compileSchema(schema: unknown): Compiled {
  const problems = schemaProblems(schema);
  if (problems.length > 0) return { ok: false, problems };
  const check = schemaCheck(schema as JsonSchema);
  return { ok: true, check: (value, budget = new CheckBudget()) => checked(value, check, budget) };
}

function checked(value: unknown, check: Check, budget: CheckBudget): ValueProblem | null {
  const steps = Math.min(MAX_STEPS, budget.stepsLeft);
  const run = new CheckRun(steps);
  try {
    return check(value, run) ? null : { ...run.problem, isTooComplex: false };
  } catch (error) {
    if (!(error instanceof OutOfSteps)) throw error;
    const message = `takes too long to check: more than ${steps} steps, or ${MAX_NESTED_CHECKS} nested schemas`;
    return { pointer: "", message, isTooComplex: true };
  } finally {
    budget.stepsLeft -= steps - run.stepsLeft;
  }
}
