// Event types: what people and programs are told about each, and what its data must look like.
import type { Catalogue } from "../catalogue/catalogue.ts";
import { compileSchema, type JsonSchema } from "../catalogue/compile-schema.ts";
import { type DeclaredTypes, jsonSchemaOf } from "../catalogue/declared-types.ts";
import { MAX_REDACT_PATHS, redactPathProblem } from "../catalogue/redact.ts";
import { findUnknown, refuseUnknown } from "../did-you-mean.ts";
import { type InputProblem, PosthornError } from "../errors.ts";
import { apiVersionSyntax, maxTypeLength, typeSyntax } from "../event/limits.ts";
import { SYSTEM_TYPE_PREFIX } from "../fan-out/matches.ts";
import type { Database } from "../storage/database.ts";
import type { EventTypeRow } from "../storage/queries/event-types/event-type-row.ts";
import { findEventType, listEventTypes } from "../storage/queries/event-types/read.ts";
import {
  deleteEventType,
  lockCatalogue,
  type NewEventType,
  raiseCatalogueVersion,
  saveEventType,
} from "../storage/queries/event-types/write.ts";
import { type Page, type PageQuery, QueryReader, toPage } from "./page.ts";

export interface EventType {
  readonly name: string;
  readonly apiVersion: string;
  readonly description: string | null;
  /** JSON Schema 2020-12 of the data; null: it may be anything. */
  readonly schema: JsonSchema | null;
  readonly example: unknown;
  /** What people without `payloads:read` do not see: JSON Pointers, `*` for every item or member. */
  readonly redact: readonly string[];
  readonly deprecated: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** All of it: what is left out is as if it were null. */
export interface EventTypeInput {
  /** Default `1`. */
  readonly apiVersion?: string | undefined;
  readonly description?: string | null | undefined;
  readonly schema?: JsonSchema | null | undefined;
  readonly example?: unknown;
  readonly redact?: readonly string[] | undefined;
  readonly deprecated?: boolean | undefined;
}

export interface EventTypes {
  /** Makes a version of a type, or replaces it. */
  put(name: string, input?: EventTypeInput): Promise<EventType>;
  /** One version, the one registered last unless told; `versions` are all there are. */
  get(
    name: string,
    scope?: { readonly apiVersion?: string | undefined },
  ): Promise<EventType & { readonly versions: readonly string[] }>;
  /** By name and version. */
  list(query?: PageQuery): Promise<Page<EventType>>;
  /** One version, or all of them. What was published under it stays, and stays redacted. */
  delete(name: string, scope?: { readonly apiVersion?: string | undefined }): Promise<void>;
}

export interface EventTypesOptions {
  readonly db: Database;
  readonly catalogue: Catalogue;
}

/** Versions counted. */
export const MAX_EVENT_TYPES = 2_000;
export const MAX_DESCRIPTION_LENGTH = 2_000;
export const MAX_EXAMPLE_BYTES = 64 * 1024;

export function createEventTypes({ db, catalogue }: EventTypesOptions): EventTypes {
  return { put, get, list, delete: remove };

  async function put(name: string, input: EventTypeInput = {}): Promise<EventType> {
    const type = readEventType(name, input);
    const [saved] = await saveAll(db, catalogue, [type]);
    return toEventType(saved as EventTypeRow);
  }

  async function get(name: string, scope: { readonly apiVersion?: string | undefined } = {}) {
    refuseUnknown("There is no scope", scope, ["apiVersion"], "invalid_query");
    const rows = isTypeName(name) ? await findEventType(db, name) : [];
    const { apiVersion } = scope;
    const row = rows.find((one) => apiVersion === undefined || one.apiVersion === apiVersion);
    if (row === undefined) throw notFound(name, apiVersion);
    return { ...toEventType(row), versions: rows.map((one) => one.apiVersion).toSorted() };
  }

  async function list(query: PageQuery = {}): Promise<Page<EventType>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const [name = "", apiVersion = ""] = (reader.cursor("event-types", query) ?? "").split(" ");
    reader.finish(["limit", "cursor"], query);
    const rows = await listEventTypes(db, { name, apiVersion }, limit + 1);
    return toPage("event-types", rows, limit, toEventType, (row) => `${row.name} ${row.apiVersion}`);
  }

  async function remove(
    name: string,
    scope: { readonly apiVersion?: string | undefined } = {},
  ): Promise<void> {
    refuseUnknown("There is no scope", scope, ["apiVersion"], "invalid_query");
    const { apiVersion } = scope;
    if (!isTypeName(name)) throw notFound(name, apiVersion);
    await db.transaction(async (tx) => {
      await lockCatalogue(tx);
      if ((await deleteEventType(tx, name, apiVersion ?? null)) === 0) throw notFound(name, apiVersion);
      await raiseCatalogueVersion(tx);
    });
    await catalogue.refresh();
  }
}

/** All or none, and the version is raised once. */
export async function saveAll(
  db: Database,
  catalogue: Catalogue,
  types: readonly NewEventType[],
): Promise<EventTypeRow[]> {
  const saved = await db.transaction(async (tx) => {
    const before = await lockCatalogue(tx);
    const rows: EventTypeRow[] = [];
    let hasChanged = false;
    for (const type of types) {
      const { row, isChanged } = await saveEventType(tx, type);
      rows.push(row);
      hasChanged ||= isChanged;
    }
    if (!hasChanged) return rows;
    if (before + types.length > MAX_EVENT_TYPES && (await lockCatalogue(tx)) > MAX_EVENT_TYPES) {
      const message = `The catalogue holds at most ${MAX_EVENT_TYPES} types, versions counted. Delete some first.`;
      throw new PosthornError("event_type_limit_reached", message);
    }
    await raiseCatalogueVersion(tx);
    return rows;
  });
  // whoever changed it sees it at once
  await catalogue.refresh();
  return saved;
}

/** Writes the types of the code down, so that others see them: people, SQL, and processes with other code. */
export async function register(db: Database, catalogue: Catalogue, declared: DeclaredTypes): Promise<void> {
  const types = declared.entries.map(([name, declaration]) => {
    const { version, description, example, redact, deprecated } = declaration;
    const schema = jsonSchemaOf(declaration);
    const input = { apiVersion: version, description, example, redact, deprecated };
    try {
      return readEventType(name, {
        ...input,
        schema: schema !== null && compileSchema(schema).ok ? schema : null,
      });
    } catch (error) {
      throw new PosthornError("invalid_config", `events: "${name}": ${(error as Error).message}`, {
        cause: error,
      });
    }
  });
  if (types.length > 0) await saveAll(db, catalogue, types);
}

const FIELDS = ["apiVersion", "description", "schema", "example", "redact", "deprecated"];
/** `/event-types/import` and `/export` are something else. */
const RESERVED = ["import", "export"];

/** Throws when it cannot be saved; problems point at each place. */
export function readEventType(name: string, input: EventTypeInput): NewEventType {
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
    apiVersion = "1",
    description = null,
    schema = null,
    example,
    redact = [],
    deprecated = false,
  } = input;
  if (typeof apiVersion !== "string" || !apiVersionSyntax.test(apiVersion)) {
    refuse("/apiVersion", "apiVersion must be 1 to 32 characters of A-Z a-z 0-9 _ . -.");
  }
  if (description !== null && !isDescription(description)) {
    refuse("/description", `description is text of at most ${MAX_DESCRIPTION_LENGTH} characters, or null.`);
  }
  if (typeof deprecated !== "boolean") refuse("/deprecated", "deprecated is true or false.");
  checkRedact(redact, refuse);
  const exampleText = example === undefined || example === null ? null : textOf(example);
  if (exampleText !== null && Buffer.byteLength(exampleText) > MAX_EXAMPLE_BYTES) {
    refuse("/example", `The example has more than ${MAX_EXAMPLE_BYTES} bytes.`);
  } else if (schema !== null) checkSchema(schema, exampleText, refuse);
  const [first] = problems;
  if (first !== undefined) throw new PosthornError("invalid_event_type", first.message, { problems });
  const schemaText = schema === null ? null : JSON.stringify(schema);
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
  } else if (RESERVED.includes(name)) refuse("/name", `"${name}" alone is reserved; take a name with a dot.`);
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

function checkSchema(schema: unknown, example: string | null, refuse: Refuse): void {
  const compiled = compileSchema(schema);
  if (!compiled.ok) {
    for (const { pointer, message } of compiled.problems) refuse(`/schema${pointer}`, message);
    return;
  }
  const problem = example === null ? null : compiled.check(JSON.parse(example));
  if (problem !== null) {
    const pointer = `/example${problem.pointer}`;
    refuse(pointer, `"${pointer}" ${problem.message}, says the schema.`);
  }
}

function isDescription(text: unknown): text is string {
  return typeof text === "string" && text.length <= MAX_DESCRIPTION_LENGTH && !text.includes("\0");
}

/** Null where there is no JSON of it; it is then as if there were none. */
function textOf(example: unknown): string | null {
  return JSON.stringify(example) ?? null;
}

function isTypeName(name: unknown): name is string {
  return typeof name === "string" && name.length <= maxTypeLength && typeSyntax.test(name);
}

export function toEventType(row: EventTypeRow): EventType {
  return {
    name: row.name,
    apiVersion: row.apiVersion,
    description: row.description,
    schema: row.schema === null ? null : JSON.parse(row.schema),
    example: row.example === null ? null : JSON.parse(row.example),
    redact: row.redact,
    deprecated: row.isDeprecated,
    createdAt: new Date(row.createdMs),
    updatedAt: new Date(row.updatedMs),
  };
}

function notFound(name: unknown, apiVersion: string | undefined): PosthornError {
  const shown = isTypeName(name) ? `"${name}"` : "of that name";
  const version = apiVersion === undefined ? "" : " in that version";
  return new PosthornError(
    "event_type_not_found",
    `There is no event type ${shown}${version}. List them to see their names.`,
  );
}
