// Assembles a receiver from its parts.
import { fetchHandler } from "./adapters/fetch.ts";
import { handlingFor } from "./handle/handle-message.ts";
import {
  type CatalogueOf,
  type EventFor,
  type EventSchemas,
  type Handler,
  Handlers,
  type Pattern,
  type SourceFilter,
} from "./handle/handlers.ts";
import { reporterFor } from "./hooks/hooks.ts";
import { type DeadLetters, deadLettersOf } from "./inbox/dead-letters.ts";
import { drain, InFlight } from "./inbox/in-flight.ts";
import { InboxWorker, pruneAll } from "./inbox/inbox-worker.ts";
import { metricsText } from "./metrics.ts";
import type { RequestHandler, WebhookEvent } from "./model.ts";
import { type ReceiverOptions, readOptions } from "./options.ts";
import { receive } from "./receive.ts";
import type { Runtime } from "./runtime.ts";
import type { Service } from "./service.ts";

/**
 * `start()` processes the inbox and prunes expired messages; it is required in mode `inbox` and useful in all modes. `stop()` claims
 * nothing more from the inbox and resolves when all work in flight has ended, deliveries included. Close the server first:
 * requests that arrive later are handled, but `stop()` does not wait for them.
 */
export interface Receiver<Tx, Catalogue> extends RequestHandler, Service {
  /**
   * Registers the handler of a type, or of all types with a prefix (`order.*`). The most specific handler receives an event. With several
   * sources, name the source: `on("invoice.paid", handler, { source: "stripe" })`. Otherwise every source can trigger the handler.
   */
  on<Type extends Pattern<Catalogue>>(
    type: Type,
    handler: Handler<EventFor<Catalogue, Type>, Tx>,
    from?: SourceFilter,
  ): this;
  /** Registers the handler of all other types. Without it they are acknowledged and dropped. */
  fallback(handler: Handler<WebhookEvent, Tx>): this;
  /** For Fetch-based servers (Hono, the app router of Next.js, Bun, Deno, Workers): `export default { fetch: receiver.fetch }`. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly deadLetters: DeadLetters;
  /** The number of dead letters in Prometheus' text format; empty if the store does not respond. */
  metrics(): Promise<string>;
  /** Deletes messages past the window and returns their number. For applications that use their own timer instead of `start()`. */
  prune(): Promise<number>;
}

/** Creates a receiver. Throws if the options are invalid. */
export function createReceiver<Tx, const Schemas extends EventSchemas = EventSchemas>(
  options: ReceiverOptions<Tx, Schemas>,
): Receiver<Tx, CatalogueOf<Schemas>> {
  const settings = readOptions(options);
  const { sources, store, events: schemas = {} } = options;
  const sourceNames = sources.map(({ name }) => name);
  const handlers = new Handlers<Tx>(schemas, sourceNames);
  const report = reporterFor(options);
  const runtime: Runtime<Tx> = {
    settings,
    sources,
    schemas,
    store,
    handlers,
    report,
    deliveries: new InFlight(),
  };
  const worker = new InboxWorker(runtime);
  const handle = handlingFor(runtime, worker);

  const receiver: Receiver<Tx, CatalogueOf<Schemas>> = {
    on(type, handler, from) {
      handlers.on(type, handler as Handler<WebhookEvent, Tx>, from);
      return receiver;
    },
    fallback(handler) {
      handlers.fallback(handler);
      return receiver;
    },
    receive: (request) => receive(runtime, handle, request),
    fetch: (request) => handleFetch(request),
    deadLetters: deadLettersOf(runtime),
    metrics: () => metricsText(runtime),
    prune: () => pruneAll(store, settings.claimOptions),
    start: () => worker.start(),
    async stop() {
      await Promise.all([worker.stop(), drain(runtime, runtime.deliveries.settled())]);
    },
  };
  const handleFetch = fetchHandler(receiver);
  return receiver;
}
