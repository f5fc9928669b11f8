// Which handler an event gets, and what TypeScript knows of its data.
import { didYouMean } from "@posthorn/wire";
import type { WebhookEvent } from "../model.ts";

/** Any validator that speaks Standard Schema (zod, Valibot, ArkType, …): https://standardschema.dev */
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

/** Event type → data, as the handlers see it. */
export type CatalogueOf<Schemas extends EventSchemas> = {
  readonly [Type in keyof Schemas]: Schemas[Type] extends StandardSchema<infer Data> ? Data : never;
};

/** Types without checks: `events: eventTypes<{ "order.paid": { total: number } }>()`. */
export function eventTypes<Catalogue extends object>(): {
  readonly [Type in keyof Catalogue & string]: StandardSchema<Catalogue[Type]>;
} {
  return {} as ReturnType<typeof eventTypes<Catalogue>>;
}

/** A type of the catalogue, or everything below a prefix: `order.*`. Any text without a catalogue. */
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
  /** The transaction that the done mark is part of. Reading it throws where there is none: in mode `lease`, and with stores that have no transactions. */
  readonly tx: Tx;
  /** Aborted when the lease was lost, or `handlerTimeoutMs` is over: somebody else may work on the event, so stop, and leave `tx` alone. */
  readonly signal: AbortSignal;
  /** Failures so far. */
  readonly tries: number;
}

export type Handler<Event, Tx> = (event: Event, context: Context<Tx>) => unknown;
type AnyHandler<Tx> = Handler<WebhookEvent, Tx>;

/** Whose events a handler gets. */
export interface SourceFilter {
  /** The name of a source; events of that type from others go elsewhere. */
  readonly source: string;
}

interface Registry<Tx> {
  readonly exact: Map<string, AnyHandler<Tx>>;
  /** `order.` → handler. */
  readonly byPrefix: Map<string, AnyHandler<Tx>>;
}

export class Handlers<Tx> {
  readonly #ofAny: Registry<Tx> = { exact: new Map(), byPrefix: new Map() };
  readonly #bySource: ReadonlyMap<string, Registry<Tx>>;
  readonly #knownTypes: readonly string[];
  #fallback: AnyHandler<Tx> | null = null;

  constructor(schemas: EventSchemas, sourceNames: readonly string[]) {
    this.#knownTypes = Object.keys(schemas);
    this.#bySource = new Map(sourceNames.map((name) => [name, { exact: new Map(), byPrefix: new Map() }]));
  }

  on(pattern: string, handler: AnyHandler<Tx>, from?: SourceFilter): void {
    if (typeof handler !== "function") throw new TypeError(`The handler of "${pattern}" is not a function.`);
    if (pattern === "*")
      throw new TypeError('Give the handler of everything else to fallback(), not to on("*").');
    const isPrefix = pattern.endsWith(".*");
    if (pattern === "" || pattern.slice(0, isPrefix ? -2 : undefined).includes("*")) {
      throw new TypeError(`"${pattern}" is no event type: \`*\` stands only at the end, as in "order.*".`);
    }
    this.#refuseUnknown(pattern, isPrefix);
    const { exact, byPrefix } = from === undefined ? this.#ofAny : this.#registryOf(from);
    const [handlers, name] = isPrefix ? [byPrefix, pattern.slice(0, -1)] : ([exact, pattern] as const);
    if (handlers.has(name)) throw new TypeError(`"${pattern}" has a handler already; an event gets one.`);
    handlers.set(name, handler);
  }

  fallback(handler: AnyHandler<Tx>): void {
    if (typeof handler !== "function") throw new TypeError("The fallback is not a function.");
    if (this.#fallback !== null)
      throw new TypeError("There is a fallback already; an event gets one handler.");
    this.#fallback = handler;
  }

  /** One of its source before one of any; of these that of the type, then of the longest prefix. Null: nobody wants it. */
  find({ source, type }: Pick<WebhookEvent, "source" | "type">): AnyHandler<Tx> | null {
    const own = this.#bySource.get(source);
    return (own && handlerIn(own, type)) ?? handlerIn(this.#ofAny, type) ?? this.#fallback;
  }

  #registryOf({ source }: SourceFilter): Registry<Tx> {
    const registry = this.#bySource.get(source);
    if (registry !== undefined) return registry;
    throw new TypeError(
      `There is no source "${source}". ${didYouMean(String(source), [...this.#bySource.keys()])}`,
    );
  }

  #refuseUnknown(pattern: string, isPrefix: boolean): void {
    const types = this.#knownTypes;
    const isKnown = isPrefix
      ? types.some((type) => type.startsWith(pattern.slice(0, -1)))
      : types.includes(pattern);
    if (types.length === 0 || isKnown) return;
    throw new TypeError(`\`events\` has no type "${pattern}". ${didYouMean(pattern, types)}`);
  }
}

function handlerIn<Tx>({ exact, byPrefix }: Registry<Tx>, type: string): AnyHandler<Tx> | null {
  const handler = exact.get(type);
  if (handler !== undefined) return handler;
  for (let dot = type.lastIndexOf("."); dot > 0; dot = type.lastIndexOf(".", dot - 1)) {
    const below = byPrefix.get(type.slice(0, dot + 1));
    if (below !== undefined) return below;
  }
  return null;
}
