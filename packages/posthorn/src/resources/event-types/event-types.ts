// Event types of the catalogue: descriptions, schemas, import and export.
import type { EnvelopeNames } from "@posthorn/wire";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { type DeclaredTypes, entriesOf } from "../../catalogue/declared-types.ts";
import {
  type CatalogueEntry,
  EXPORT_FORMATS,
  type ExportFormat,
  exportCatalogue,
  keyOf,
} from "../../catalogue/export-documents.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { PosthornError, problemAt } from "../../errors.ts";
import { apiVersionSyntax } from "../../event/limits.ts";
import type { Database } from "../../storage/database.ts";
import {
  allEventTypes,
  deleteEventType,
  type EventTypeRow,
  findEventType,
  incrementCatalogueVersion,
  listEventTypes,
  lockCatalogue,
  type NewEventType,
  saveEventType,
} from "../../storage/queries/event-types.ts";
import { MAX_PAGE_BYTES } from "../../storage/queries/page.ts";
import { dated, type Page, type PageQuery, readPage, toPage } from "../page.ts";
import { readDocument } from "./event-type-document.ts";
import { type EventTypeInput, isTypeName, readEventType } from "./event-type-input.ts";

export interface EventType extends CatalogueEntry {
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface EventTypes {
  /** Creates or replaces a version of a type. */
  put(name: string, input?: EventTypeInput): Promise<EventType>;
  /** Returns one version, by default the one registered last. `versions` lists all. */
  get(
    name: string,
    scope?: { readonly apiVersion?: string | undefined },
  ): Promise<EventType & { readonly versions: readonly string[] }>;
  /** Sorted by name and version. */
  list(query?: PageQuery): Promise<Page<EventType>>;
  /** Deletes one version, or all. Events of the type stay, and stay redacted. */
  delete(name: string, scope?: { readonly apiVersion?: string | undefined }): Promise<void>;
  /** Imports the webhooks of an OpenAPI 3.1 document, all or nothing. With `dryRun` it only reports the changes. */
  import(
    document: unknown,
    options?: { readonly dryRun?: boolean | undefined },
  ): Promise<readonly ImportedType[]>;
  /**
   * Exports the catalogue as webhooks of an OpenAPI 3.1 document or as AsyncAPI 3.0: all types, one (`order.paid`), or those
   * with a prefix (`order.*`).
   */
  export(
    format: ExportFormat,
    options?: { readonly type?: string | undefined },
  ): Promise<Readonly<Record<string, unknown>>>;
}

export interface ImportedType {
  readonly name: string;
  readonly apiVersion: string;
  readonly change: "created" | "updated" | "unchanged";
}

export interface EventTypesOptions {
  readonly db: Database;
  readonly catalogue: Catalogue;
  /** The version of types that are registered without one. */
  readonly apiVersion: string;
  /** The deployment's names of envelope fields, in documents. */
  readonly envelopeFields?: EnvelopeNames | undefined;
}

/** Each version counts. */
export const MAX_EVENT_TYPES = 2_000;

export function createEventTypes({
  db,
  catalogue,
  apiVersion: defaultVersion,
  envelopeFields,
}: EventTypesOptions): EventTypes {
  return {
    async put(name, input = {}) {
      const type = readEventType(name, input, defaultVersion);
      const [saved] = await saveAll(db, catalogue, [type]);
      return toEventType(saved as EventTypeRow);
    },

    async get(name, scope = {}) {
      refuseUnknown("There is no scope", scope, ["apiVersion"], "invalid_query");
      const rows = isTypeName(name) ? await findEventType(db, name) : [];
      const { apiVersion } = scope;
      const row = rows.find((one) => apiVersion === undefined || one.apiVersion === apiVersion);
      if (row === undefined) throw notFound(name, apiVersion);
      return { ...toEventType(row), versions: rows.map((one) => one.apiVersion).toSorted() };
    },

    async list(query = {}) {
      const { limit, cursor } = readPage("event-types", query, {});
      const [name = "", apiVersion = ""] = cursor?.split(" ") ?? [];
      const { types, isCutShort } = await listEventTypes(db, {
        after: { name, apiVersion },
        limit: limit + 1,
        name: null,
        prefix: "",
      });
      const last = types.at(-1);
      const examinedUpTo = isCutShort && last !== undefined ? cursorOf(last) : null;
      return toPage("event-types", types, limit, toEventType, cursorOf, examinedUpTo);
    },

    async delete(name, scope = {}) {
      refuseUnknown("There is no scope", scope, ["apiVersion"], "invalid_query");
      const { apiVersion } = scope;
      const isNamed = isTypeName(name) && (apiVersion === undefined || apiVersionSyntax.test(apiVersion));
      if (!isNamed) throw notFound(name, apiVersion);
      await db.transaction(async (tx) => {
        await lockCatalogue(tx);
        if ((await deleteEventType(tx, name, apiVersion ?? null)) === 0) throw notFound(name, apiVersion);
        await incrementCatalogueVersion(tx);
      });
      await catalogue.refresh();
    },

    async import(document, options = {}) {
      refuseUnknown("import has no option", options, ["dryRun"]);
      const types = await readDocument(document, defaultVersion, envelopeFields);
      const before = new Map((await allEventTypes(db)).map((row) => [keyOf(row), row]));
      const imported = types.map((type): ImportedType => {
        const { name, apiVersion } = type;
        const known = before.get(keyOf(type));
        return {
          name,
          apiVersion,
          change: known === undefined ? "created" : isSame(known, type) ? "unchanged" : "updated",
        };
      });
      const created = imported.filter(({ change }) => change === "created").length;
      if (before.size + created > MAX_EVENT_TYPES) throw limitReached();
      if (options.dryRun !== true) await saveAll(db, catalogue, types);
      return imported;
    },

    async export(format, options = {}) {
      refuseUnknown("export has no option", options, ["type"]);
      if (!EXPORT_FORMATS.includes(format))
        throw wrongExport("format", `is one of ${EXPORT_FORMATS.join(", ")}.`);
      const asked = namesAsked(options.type ?? "*");
      const { types, isCutShort } = await listEventTypes(db, {
        after: NO_TYPE,
        limit: MAX_EVENT_TYPES,
        ...asked,
      });
      if (isCutShort)
        throw new PosthornError(
          "export_too_large",
          `The schemas and examples have more than ${MAX_PAGE_BYTES / 1024 / 1024} MB, too much for one document. Export them in parts: type=order.* for a prefix, type=order.paid for one type.`,
        );
      return exportCatalogue(format, types.map(toEventType), envelopeFields);
    },
  };
}

const NO_TYPE = { name: "", apiVersion: "" };

/** Reads a pattern as in an endpoint's `events`: one type, a prefix, or `*`. */
function namesAsked(type: unknown): { readonly name: string | null; readonly prefix: string } {
  if (type === "*") return { name: null, prefix: "" };
  if (isTypeName(type)) return { name: type, prefix: "" };
  const prefix = typeof type === "string" && type.endsWith(".*") ? type.slice(0, -1) : "";
  if (isTypeName(prefix.slice(0, -1))) return { name: null, prefix };
  throw wrongExport("type", "is an event type (order.paid), a prefix (order.*), or *.");
}

function wrongExport(field: string, rule: string): PosthornError {
  return problemAt("invalid_query", `/${field}`, `${field} ${rule}`);
}

function cursorOf({ name, apiVersion }: EventTypeRow): string {
  return `${name} ${apiVersion}`;
}

/** Compares everything except timestamps. */
function isSame(a: NewEventType, b: NewEventType): boolean {
  const content = ({ description, schema, example, redact, isDeprecated }: NewEventType) =>
    JSON.stringify([description, schema, example, redact, isDeprecated]);
  return content(a) === content(b);
}

/** Saves all types or none, and increments the catalogue version once if any has changed. */
async function saveAll(
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
      throw limitReached();
    }
    await incrementCatalogueVersion(tx);
    return rows;
  });
  // this process sees its own change at once
  await catalogue.refresh();
  return saved;
}

/** Saves the types declared in code, so that people, SQL and processes with other code see them. */
export async function register(db: Database, catalogue: Catalogue, declared: DeclaredTypes): Promise<void> {
  const types = entriesOf(declared).map(({ name, ...input }) => {
    try {
      return readEventType(name, input, input.apiVersion);
    } catch (error) {
      throw new PosthornError("invalid_config", `events: "${name}": ${(error as Error).message}`, {
        cause: error,
      });
    }
  });
  if (types.length > 0) await saveAll(db, catalogue, types);
}

function toEventType({
  isDeprecated,
  isDeleted: _,
  schemaSinceMs: _since,
  schema,
  example,
  ...row
}: EventTypeRow): EventType {
  return {
    ...dated(row),
    schema: schema === null ? null : JSON.parse(schema),
    example: example === null ? null : JSON.parse(example),
    deprecated: isDeprecated,
  };
}

function limitReached(): PosthornError {
  const message = `The catalogue holds at most ${MAX_EVENT_TYPES} types; each version counts. Delete some first.`;
  return new PosthornError("event_type_limit_reached", message);
}

function notFound(name: unknown, apiVersion: string | undefined): PosthornError {
  const shown = isTypeName(name) ? `"${name}"` : "of that name";
  const version = apiVersion === undefined ? "" : " in that version";
  return new PosthornError(
    "event_type_not_found",
    `There is no event type ${shown}${version}. List them to see their names.`,
  );
}
