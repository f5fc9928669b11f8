// Checks the input for an event type, and reports all problems at once.
import type { CatalogueEntry } from "../../catalogue/export-documents.ts";
import { MAX_REDACT_PATHS, redactPathProblem } from "../../catalogue/redact.ts";
import { findUnknown } from "../../did-you-mean.ts";
import { type InputProblem, PosthornError, throwProblems } from "../../errors.ts";
import { apiVersionSyntax, apiVersionSyntaxInWords, maxTypeLength, typeSyntax } from "../../event/limits.ts";
import { SYSTEM_TYPE_PREFIX } from "../../fan-out/matches.ts";
import { type Compiled, compileSchema } from "../../json-schema/compile-schema.ts";
import { jsonText, MAX_JSON_DEPTH } from "../../json-schema/json-text.ts";
import type { NewEventType } from "../../storage/queries/event-types.ts";

/** Replaces the whole type: fields left out are reset to their defaults. The default version is that of the deployment. */
export type EventTypeInput = {
  readonly [Name in Exclude<keyof CatalogueEntry, "name">]?: CatalogueEntry[Name] | undefined;
};

export const MAX_DESCRIPTION_LENGTH = 2_000;
export const MAX_EXAMPLE_BYTES = 64 * 1024;

const FIELDS = ["apiVersion", "description", "schema", "example", "redact", "deprecated"];
/** `/event-types/import` and `/export` are other routes. */
const RESERVED = ["import", "export"];

export type CompileText = (schema: string) => Compiled;

/** Throws if the type is invalid; `problems` has a pointer for each. */
export function readEventType(
  name: string,
  input: EventTypeInput,
  defaultVersion: string,
  compile: CompileText = (schema) => compileSchema(JSON.parse(schema)),
): NewEventType {
  const problems: InputProblem[] = [];
  const refuse = (pointer: string, message: string) => problems.push({ pointer, message });
  if (typeof input !== "object" || input === null) {
    throw new PosthornError(
      "invalid_event_type",
      "An event type is an object with a description and a schema.",
    );
  }
  findUnknown("An event type has no", input, FIELDS, problems);
  checkName(name, refuse);
  const {
    apiVersion = defaultVersion,
    description = null,
    schema = null,
    example,
    redact = [],
    deprecated = false,
  } = input;
  if (typeof apiVersion !== "string" || !apiVersionSyntax.test(apiVersion)) {
    refuse("/apiVersion", `apiVersion must be ${apiVersionSyntaxInWords}.`);
  }
  if (description !== null && !isDescription(description)) {
    refuse("/description", `description is text of at most ${MAX_DESCRIPTION_LENGTH} characters, or null.`);
  }
  if (typeof deprecated !== "boolean") refuse("/deprecated", "deprecated is true or false.");
  checkRedact(redact, refuse);
  const schemaText = textOf(schema, "/schema", refuse);
  const exampleText = textOf(example ?? null, "/example", refuse);
  if (exampleText !== null && Buffer.byteLength(exampleText) > MAX_EXAMPLE_BYTES) {
    refuse("/example", `The example has more than ${MAX_EXAMPLE_BYTES} bytes.`);
  } else if (schemaText !== null) checkSchema(compile(schemaText), exampleText, refuse);
  throwProblems("invalid_event_type", problems);
  return {
    name,
    apiVersion,
    description,
    schema: schemaText,
    example: exampleText,
    redact,
    isDeprecated: deprecated,
  };
}

type Refuse = (pointer: string, message: string) => void;

function checkName(name: unknown, refuse: Refuse): void {
  if (!isTypeName(name)) {
    refuse(
      "/name",
      `A type is lower-case words joined by dots, such as order.paid, at most ${maxTypeLength} characters.`,
    );
  } else if (name.startsWith(SYSTEM_TYPE_PREFIX)) {
    refuse(
      "/name",
      `Types that begin with ${SYSTEM_TYPE_PREFIX} are Posthorn's own and need not be registered.`,
    );
  } else if (RESERVED.includes(name)) refuse("/name", `"${name}" is reserved; choose a name with a dot.`);
}

function checkRedact(redact: unknown, refuse: Refuse): void {
  if (!Array.isArray(redact) || redact.length > MAX_REDACT_PATHS) {
    refuse("/redact", `redact is a list of at most ${MAX_REDACT_PATHS} paths.`);
    return;
  }
  for (const [at, path] of redact.entries()) {
    const problem = redactPathProblem(path);
    if (problem !== null) refuse(`/redact/${at}`, problem);
  }
}

function checkSchema(compiled: Compiled, example: string | null, refuse: Refuse): void {
  if (!compiled.ok) {
    for (const { pointer, message } of compiled.problems) refuse(`/schema${pointer}`, message);
    return;
  }
  const problem = example === null ? null : compiled.check(JSON.parse(example));
  if (problem !== null) {
    const pointer = `/example${problem.pointer}`;
    refuse(pointer, `"${pointer}" ${problem.message}, according to the schema.`);
  }
}

function isDescription(text: unknown): text is string {
  return typeof text === "string" && text.length <= MAX_DESCRIPTION_LENGTH && !text.includes("\0");
}

function textOf(value: unknown, pointer: string, refuse: Refuse): string | null {
  if (value === null) return null;
  const text = jsonText(value);
  if (text === null)
    refuse(pointer, `This cannot be written as JSON, or is nested deeper than ${MAX_JSON_DEPTH} levels.`);
  return text;
}

export function isTypeName(name: unknown): name is string {
  return typeof name === "string" && name.length <= maxTypeLength && typeSyntax.test(name);
}
