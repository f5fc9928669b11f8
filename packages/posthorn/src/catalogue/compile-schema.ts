// JSON Schema 2020-12 by Ajv: 0.3 µs for a typical event of 1 KB, where an interpreter without generated code took 70.
// Its regular expressions are ours, which take linear time.
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { InputProblem } from "../errors.ts";
import { formats } from "./formats.ts";
import { linearPattern } from "./linear-pattern.ts";
import { children, escaped, schemaProblems } from "./schema-limits.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Null when the value is fine, otherwise the first place that is not. Pointers are into the value. */
export type CheckValue = (value: unknown) => InputProblem | null;

export type Compiled =
  | { readonly ok: true; readonly check: CheckValue }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

export function compileSchema(schema: unknown): Compiled {
  const problems = schemaProblems(schema);
  if (problems.length > 0) return { ok: false, problems };
  const { $id: _, $schema: __, ...own } = schema as JsonSchema;
  const bare = withCountedReferences(own);
  const ajv = ajvFor(bare);
  if (ajv.validateSchema(bare) !== true) {
    const { pointer, message } = problemOf(ajv.errors?.[0] as ErrorObject);
    return { ok: false, problems: [{ pointer, message: `The keyword ${message}.` }] };
  }
  try {
    const validate = ajv.compile(bare);
    return { ok: true, check: (value) => checked(value, validate) };
  } catch (error) {
    const message = `The schema cannot be used: ${(error as Error).message}.`;
    return { ok: false, problems: [{ pointer: "", message }] };
  } finally {
    // it is kept by whoever asked, and not by Ajv for ever
    ajv.removeSchema(bare);
  }
}

/**
 * References followed and steps of patterns for one value: about half a second. A schema that leads back to itself by
 * two ways doubles with every level of the value, and a pattern of 500 steps takes them all for every character.
 */
export const MAX_STEPS = 10_000_000;
let stepsLeft = MAX_STEPS;

class TooManySteps extends Error {}

function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new TooManySteps();
}

function checked(value: unknown, validate: ValidateFunction): InputProblem | null {
  stepsLeft = MAX_STEPS;
  try {
    return validate(value) ? null : outermost(validate.errors ?? []);
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
    return { pointer: "", message: `takes more than ${MAX_STEPS} steps to check` };
  }
}

const COUNTED = "x-posthorn-counted";

function withCountedReferences(schema: JsonSchema): JsonSchema {
  const copy = JSON.parse(JSON.stringify(schema));
  const visit = (one: Record<string, unknown>): void => {
    if (one.$ref !== undefined) one[COUNTED] = true;
    for (const [, inner] of children(one)) visit(inner);
  };
  visit(copy);
  return copy;
}

/** What every object has: a schema that speaks of it is asked for properties of the value's own, at 0.4 µs more. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype).map((name) => JSON.stringify(name));

interface Shared {
  readonly ajv: Ajv2020;
  compiled: number;
}

const shared = new Map<boolean, Shared>();

/** Each compiled schema leaves something behind in it. */
const COMPILED_AT_MOST = 500;

/** Made when the first schema comes: it takes 50 ms. */
function ajvFor(schema: JsonSchema): Ajv2020 {
  const text = JSON.stringify(schema);
  const ownProperties = INHERITED.some((name) => text.includes(name));
  let ours = shared.get(ownProperties);
  if (ours === undefined || ours.compiled === COMPILED_AT_MOST) {
    ours = { ajv: newAjv(ownProperties), compiled: 0 };
    shared.set(ownProperties, ours);
  }
  ours.compiled += 1;
  return ours.ajv;
}

function newAjv(ownProperties: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    // One is enough to refuse; looking for all lets a large event cost a multiple.
    allErrors: false,
    // asked above, for an error with a place
    validateSchema: false,
    ownProperties,
    formats: { ...formats },
    code: {
      regExp: Object.assign((source: string) => linearPattern(source, spend), {
        code: "linearPattern",
      }) as never,
    },
  });
  ajv.addKeyword({ keyword: COUNTED, schema: false, errors: false, validate: countReference });
  return ajv;
}

function countReference(): boolean {
  spend(1);
  return true;
}

/** The errors of the branches of `anyOf` come first, what they come to is last. */
function outermost(errors: readonly ErrorObject[]): InputProblem {
  return problemOf(errors.at(-1) as ErrorObject);
}

function problemOf({ instancePath, keyword, params, message = "is not valid" }: ErrorObject): InputProblem {
  const at = (name: unknown) => `${instancePath}/${escaped(String(name))}`;
  switch (keyword) {
    case "required":
      return { pointer: at(params.missingProperty), message: "is missing" };
    case "additionalProperties":
      return { pointer: at(params.additionalProperty), message: "is not a property that the schema knows" };
    case "unevaluatedProperties":
      return { pointer: at(params.unevaluatedProperty), message: "is not a property that the schema knows" };
    case "enum":
      return { pointer: instancePath, message: `must be one of ${shown(params.allowedValues)}` };
    case "const":
      return { pointer: instancePath, message: `must be ${shown([params.allowedValue])}` };
    case "type":
      return { pointer: instancePath, message: `must be ${[params.type].flat().join(" or ")}` };
    case "format":
      return { pointer: instancePath, message: `must be a valid ${params.format}` };
    case "anyOf":
    case "oneOf":
      return {
        pointer: instancePath,
        message: `must match ${keyword === "oneOf" ? "exactly one" : "one"} of the shapes its schema allows`,
      };
    default:
      return { pointer: instancePath, message };
  }
}

function shown(values: readonly unknown[]): string {
  return values
    .map((value) => JSON.stringify(value))
    .join(", ")
    .slice(0, 300);
}
