// Event types declared in code. TypeScript checks every publish, and the stored data is the output of the schema.
import { escapePointer } from "@posthorn/wire";
import { refuseUnknown } from "../did-you-mean.ts";
import { type ErrorCode, PosthornError, problemAt } from "../errors.ts";
import {
  apiVersionSyntax,
  apiVersionSyntaxInWords,
  DEFAULT_API_VERSION,
  maxTypeLength,
  typeSyntax,
} from "../event/limits.ts";
import { SYSTEM_TYPE_PREFIX } from "../fan-out/matches.ts";
import { CheckBudget } from "../json-schema/check-run.ts";
import { type CheckValue, compileSchema, type JsonSchema } from "../json-schema/compile-schema.ts";
import type { CatalogueEntry } from "./export-documents.ts";
import { redactPathProblem } from "./redact.ts";

/** A validator that implements Standard Schema (zod, Valibot, ArkType, …): https://standardschema.dev */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema, if the validator supports it. */
    readonly jsonSchema?:
      | { readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown> }
      | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface EventDeclaration<Schema extends StandardSchema | JsonSchema = StandardSchema | JsonSchema> {
  readonly schema: Schema;
  /** The `apiVersion` of its events. Default: the option `apiVersion`. */
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly example?: unknown;
  /** Redacted paths for people without `payloads:read`: JSON Pointers into data, `*` matches every item or member. */
  readonly redact?: readonly string[] | undefined;
  readonly deprecated?: boolean | undefined;
}

export type EventDeclarations = Readonly<Record<string, EventDeclaration>>;

/** The data that `publish` accepts for a declared type. */
export type DataOf<Declared> =
  Declared extends EventDeclaration<infer Schema>
    ? Schema extends StandardSchema<infer Input, unknown>
      ? Input
      : unknown
    : never;

/** Declares an event type: `events: { "order.paid": event({ schema: z.object({ total: z.number() }) }) }`. */
export function event<const Schema extends StandardSchema | JsonSchema>(
  declaration: EventDeclaration<Schema>,
): EventDeclaration<Schema> {
  return declaration;
}

interface Declared extends EventDeclaration {
  readonly version: string;
  /** The compiled JSON Schema. */
  readonly check: CheckValue | null;
}

export class DeclaredTypes {
  readonly types: ReadonlyMap<string, Declared>;

  /** `apiVersion` is that of types that declare none. */
  constructor(declarations: EventDeclarations, apiVersion = DEFAULT_API_VERSION) {
    const types = Object.entries(declarations);
    this.types = new Map(types.map(([name, given]) => [name, checked(name, given, apiVersion)]));
  }

  redactedPaths(type: string): readonly string[] {
    return this.types.get(type)?.redact ?? [];
  }

  /** Returns the event with the output of its schema as data; an undeclared one unchanged and synchronously. */
  resolve<Input extends DeclarableInput>(input: Input, budget = new CheckBudget()): Input | Promise<Input> {
    const declared = this.types.get(input?.type);
    const apiVersion = input?.apiVersion ?? declared?.version;
    if (declared === undefined || apiVersion !== declared.version) return input;
    const data = dataOf(input);
    const { check, schema } = declared;
    if (check === null) {
      const { rawData: _, ...rest } = input;
      return outputOf(schema as StandardSchema, data).then(
        (output) => ({ ...rest, apiVersion, data: output }) as unknown as Input,
      );
    }
    const problem = check(plain(data), budget);
    if (problem !== null) {
      const code = problem.isTooComplex ? "event_too_complex" : "invalid_event";
      const schema = `the schema of ${input.type}, version ${apiVersion}`;
      throw refused(`/data${problem.pointer}`, `${problem.message}, according to ${schema}`, code);
    }
    return { ...input, apiVersion };
  }
}

interface DeclarableInput {
  readonly type: string;
  readonly apiVersion?: string | undefined;
  readonly data?: unknown;
  readonly rawData?: unknown;
}

async function outputOf(schema: StandardSchema, data: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(data);
  if (result.issues === undefined) return result.value;
  const problems = result.issues.map(({ path = [], message }) => {
    const parts = path.map((part) => (typeof part === "object" ? part.key : part));
    return { pointer: ["/data", ...parts.map((part) => escapePointer(String(part)))].join("/"), message };
  });
  const [first] = problems;
  throw new PosthornError("invalid_event", `"${first?.pointer}": ${first?.message}`, { problems });
}

/** The value after JSON serialization: a Date is a string. */
function plain(data: unknown): unknown {
  const json = JSON.stringify(data);
  return json === undefined ? undefined : JSON.parse(json);
}

function dataOf({ data, rawData }: DeclarableInput): unknown {
  if (rawData === undefined) return data;
  const bytes = (rawData as { bytes?: Uint8Array }).bytes ?? (rawData as Uint8Array);
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    throw refused("/data", `cannot be published: ${(error as Error).message}`);
  }
}

function refused(pointer: string, message: string, code: ErrorCode = "invalid_event"): PosthornError {
  return problemAt(code, pointer, `"${pointer}" ${message}.`);
}

const DECLARATION_FIELDS = ["schema", "version", "description", "example", "redact", "deprecated"];

function checked(name: string, given: EventDeclaration, apiVersion: string): Declared {
  const fail = (message: string): never => {
    throw new PosthornError("invalid_config", `events: "${name.slice(0, 130)}" ${message}`);
  };
  if (name.length > maxTypeLength || !typeSyntax.test(name) || name.startsWith(SYSTEM_TYPE_PREFIX)) {
    fail("is not a valid type; use lower-case words joined by dots that do not begin with webhook.");
  }
  if (typeof given !== "object" || given === null) fail("is not declared by event({ schema })");
  refuseUnknown(`events: "${name}" has no`, given, DECLARATION_FIELDS);
  const { schema, version = apiVersion, redact = [] } = given;
  if (!apiVersionSyntax.test(version)) fail(`has a version that is not ${apiVersionSyntaxInWords}`);
  const badPath = Array.isArray(redact)
    ? redact.map(redactPathProblem).find((problem) => problem !== null)
    : "";
  if (badPath !== undefined) fail(`has a redact that cannot be used. ${badPath || "It is a list of paths."}`);
  if (isStandard(schema)) return { ...given, version, check: null };
  const compiled = compileSchema(schema);
  if (compiled.ok) return { ...given, version, check: compiled.check };
  const [problem] = compiled.problems;
  return fail(`has a schema that cannot be used, at "${problem?.pointer}": ${problem?.message}`);
}

function isStandard(schema: unknown): schema is StandardSchema {
  return (
    (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema
  );
}

/** The types as the catalogue stores them. A schema without a JSON Schema that can be checked is left out. */
export function entriesOf({ types }: DeclaredTypes): CatalogueEntry[] {
  return [...types].map(([name, declaration]) => {
    const { version, description = null, example = null, redact = [], deprecated = false } = declaration;
    const schema = jsonSchemaOf(declaration);
    const isUsable = schema !== null && compileSchema(schema).ok;
    return {
      name,
      apiVersion: version,
      description,
      schema: isUsable ? schema : null,
      example,
      redact,
      deprecated,
    };
  });
}

/** The JSON Schema, if there is one. */
function jsonSchemaOf({ schema }: EventDeclaration): JsonSchema | null {
  if (!isStandard(schema)) return schema;
  try {
    return schema["~standard"].jsonSchema?.output({ target: "draft-2020-12" }) ?? null;
  } catch {
    // the schema has no JSON Schema equivalent
    return null;
  }
}
