// Finds the handler of an event, and types its data.
import { didYouMean } from "@posthorn/wire";
import type { WebhookEvent } from "../model.ts";

/** Any validator that implements Standard Schema (zod, Valibot, ArkType, …): https://standardschema.dev */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Event type → schema of its data. */
export type EventSchemas = Readonly<Record<string, StandardSchema>>;

/** Event type → data, as handlers see it. */
export type CatalogueOf<Schemas extends EventSchemas> = {
  readonly [Type in keyof Schemas]: Schemas[Type] extends StandardSchema<infer Data> ? Data : never;
};

/** Types without validation: `events: eventTypes<{ "order.paid": { total: number } }>()`. */
export function eventTypes<Catalogue extends object>(): {
  readonly [Type in keyof Catalogue & string]: StandardSchema<Catalogue[Type]>;
} {
  return {} as ReturnType<typeof eventTypes<Catalogue>>;
}

/** A type of the catalogue, or a prefix pattern such as `order.*`. Any string if there is no catalogue. */
export type Pattern<Catalogue> = string extends keyof Catalogue
  ? string
  : (keyof Catalogue & string) | `${string}.*`;

export type EventFor<Catalogue, Type extends string> = string extends keyof Catalogue
  ? WebhookEvent
  : Type extends keyof Catalogue
    ? TypedEvent<Catalogue, Type>
    : Type extends `${infer Prefix}.*`
      ? TypedEvent<Catalogue, keyof Catalogue & `${Prefix}.${string}`>
      : WebhookEvent;

/** A union over the types, so that comparing `event.type` narrows `event.data`. */
type TypedEvent<Catalogue, Types extends keyof Catalogue> = [Types] extends [never]
  ? WebhookEvent
  : { [Type in Types]: WebhookEvent<Catalogue[Type]> & { readonly type: Type } }[Types];

export interface Context<Tx> {
  /** The transaction that includes the completion. Reading it throws in mode `lease` and for stores without transactions. */
  readonly tx: Tx;
  /** Aborted when the lease is lost or `handlerTimeoutMs` is over: stop and leave `tx` alone, another process may handle the event. */
  readonly signal: AbortSignal;
  /** Failures so far. */
  readonly failures: number;
}

export type Handler<Event, Tx> = (event: Event, context: Context<Tx>) => unknown;
type AnyHandler<Tx> = Handler<WebhookEvent, Tx>;

/** Restricts a handler to one source. */
export interface SourceFilter {
  /** The name of the source. */
  readonly source: string;
}

export class Handlers<Tx> {
  readonly #knownTypes: readonly string[];
  readonly #sourceNames: readonly string[];
  /** By source, null for all sources, and pattern. */
  readonly #bySource: ReadonlyMap<string | null, Map<string, AnyHandler<Tx>>>;
  #fallback: AnyHandler<Tx> | null = null;

  constructor(schemas: EventSchemas, sourceNames: readonly string[]) {
    this.#knownTypes = Object.keys(schemas);
    this.#sourceNames = sourceNames;
    this.#bySource = new Map([null, ...sourceNames].map((name) => [name, new Map()]));
  }

  on(pattern: string, handler: AnyHandler<Tx>, from?: SourceFilter): void {
    if (typeof handler !== "function") throw new TypeError(`The handler of "${pattern}" is not a function.`);
    if (pattern === "*") throw new TypeError('Use fallback() instead of on("*") to handle all other types.');
    const isPrefix = pattern.endsWith(".*");
    if (pattern === "" || pattern.slice(0, isPrefix ? -2 : undefined).includes("*")) {
      throw new TypeError(
        `"${pattern}" is not an event type: \`*\` is allowed only at the end, as in "order.*".`,
      );
    }
    this.#rejectUnknown(pattern, isPrefix);
    const source = from === undefined ? null : String(from.source);
    const handlers = this.#bySource.get(source);
    if (handlers === undefined)
      throw new TypeError(`There is no source "${source}". ${didYouMean(`${source}`, this.#sourceNames)}`);
    if (handlers.has(pattern))
      throw new TypeError(`"${pattern}" already has a handler. An event has one handler.`);
    handlers.set(pattern, handler);
  }

  fallback(handler: AnyHandler<Tx>): void {
    if (typeof handler !== "function") throw new TypeError("The fallback is not a function.");
    if (this.#fallback !== null)
      throw new TypeError("There is already a fallback. An event has one handler.");
    this.#fallback = handler;
  }

  /** A handler of its source wins over one for all sources, then an exact type over the longest prefix. Null if there is none. */
  find({ source, type }: Pick<WebhookEvent, "source" | "type">): AnyHandler<Tx> | null {
    return (
      findIn(this.#bySource.get(source), type) ?? findIn(this.#bySource.get(null), type) ?? this.#fallback
    );
  }

  #rejectUnknown(pattern: string, isPrefix: boolean): void {
    const types = this.#knownTypes;
    const isKnown = isPrefix
      ? types.some((type) => type.startsWith(pattern.slice(0, -1)))
      : types.includes(pattern);
    if (types.length === 0 || isKnown) return;
    throw new TypeError(`\`events\` has no type "${pattern}". ${didYouMean(pattern, types)}`);
  }
}

/** The handler of the type itself, or of its longest prefix. */
function findIn<Found>(handlers: ReadonlyMap<string, Found> | undefined, type: string): Found | undefined {
  if (handlers === undefined || handlers.size === 0) return undefined;
  let found = handlers.get(type);
  for (
    let dot = type.lastIndexOf(".");
    dot > 0 && found === undefined;
    dot = type.lastIndexOf(".", dot - 1)
  ) {
    found = handlers.get(`${type.slice(0, dot)}.*`);
  }
  return found;
}
