// Reads all event types of an OpenAPI document, or throws with all its problems. Yields to other work between types.
import { setImmediate } from "node:timers/promises";
import type { EnvelopeNames } from "@posthorn/wire";
import { type ImportedEntry, readOpenApi } from "../../catalogue/import-open-api.ts";
import { type InputProblem, PosthornError, problemAt, throwProblems } from "../../errors.ts";
import { DEFAULT_API_VERSION } from "../../event/limits.ts";
import { type Compiled, compileSchema } from "../../json-schema/compile-schema.ts";
import { jsonText, MAX_JSON_DEPTH } from "../../json-schema/json-text.ts";
import type { NewEventType } from "../../storage/queries/event-types.ts";
import { readEventType } from "./event-type-input.ts";

/** A component counts once for each type that refers to it, because every type stores its own copy. */
export const MAX_IMPORTED_SCHEMA_BYTES = 4 * 1024 * 1024;

const TURN_MS = 20;

/** `apiVersion` is that of types without a version. */
export async function readDocument(
  document: unknown,
  apiVersion = DEFAULT_API_VERSION,
  envelopeFields: EnvelopeNames = {},
): Promise<NewEventType[]> {
  const text = jsonText(document);
  if (text === null) {
    const message = `The document cannot be written as JSON, or is nested deeper than ${MAX_JSON_DEPTH} levels.`;
    throw problemAt("invalid_event_type", "", message);
  }
  const problems: InputProblem[] = [];
  const types = new Map<string, ImportedType>();
  const compile = compileOnce();
  let bytes = 0;
  let turnBegunAt = performance.now();
  for (const entry of readOpenApi(JSON.parse(text), problems, envelopeFields)) {
    const type = readEntry(entry, { types, apiVersion, compile, problems });
    bytes += Buffer.byteLength(type?.schema ?? "");
    if (bytes > MAX_IMPORTED_SCHEMA_BYTES) {
      const message = `The schemas have more than ${MAX_IMPORTED_SCHEMA_BYTES} bytes, including the components that each refers to. Import the document in parts.`;
      problems.push({ pointer: entry.pointer, message });
      break;
    }
    if (performance.now() - turnBegunAt < TURN_MS) continue;
    await setImmediate();
    turnBegunAt = performance.now();
  }
  const nothingImported = ([first]: readonly InputProblem[]) =>
    `${first?.pointer}: ${first?.message} Nothing was imported.`;
  throwProblems("invalid_event_type", problems, nothingImported);
  return [...types.values()].map(({ type }) => type);
}

interface ImportedType {
  readonly type: NewEventType;
  readonly pointer: string;
}

interface Reading {
  readonly types: Map<string, ImportedType>;
  readonly apiVersion: string;
  readonly compile: (schema: string) => Compiled;
  readonly problems: InputProblem[];
}

/** Adds the entry to the types, or its problems to the problems. */
function readEntry(
  { pointer, name, ...entry }: ImportedEntry,
  { types, apiVersion, compile, problems }: Reading,
): NewEventType | null {
  try {
    const type = readEventType(name, entry, apiVersion, compile);
    const key = `${name} ${type.apiVersion}`;
    const other = types.get(key);
    if (other === undefined) types.set(key, { type, pointer });
    else {
      const message = `Version ${type.apiVersion} of ${name} is already in the document, at "${other.pointer}".`;
      problems.push({ pointer, message });
    }
    return type;
  } catch (error) {
    if (!(error instanceof PosthornError)) throw error;
    problems.push(...error.problems.map((problem) => ({ ...problem, pointer })));
    return null;
  }
}

/** Compiles each schema once: many webhooks of a document have the same body. */
function compileOnce(): (schema: string) => Compiled {
  const known = new Map<string, Compiled>();
  return (schema) => {
    const compiled = known.get(schema) ?? compileSchema(JSON.parse(schema));
    known.set(schema, compiled);
    return compiled;
  };
}
