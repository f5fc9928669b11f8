// Puts a receiver together.
import { fetchHandler } from "./adapters/fetch.ts";
import { acceptIntoInbox } from "./handle/accept-into-inbox.ts";
import { handleInTransaction } from "./handle/handle-in-transaction.ts";
import { handleUnderLease } from "./handle/handle-under-lease.ts";
import {
  type CatalogueOf,
  type EventFor,
  type EventSchemas,
  type Handler,
  Handlers,
  type Pattern,
  type SourceFilter,
} from "./handle/handlers.ts";
import { type Hooks, Reporter } from "./hooks/hooks.ts";
import { type DeadLetters, deadLettersOf } from "./inbox/dead-letters.ts";
import { drain, InFlight } from "./inbox/in-flight.ts";
import { InboxWorker } from "./inbox/inbox-worker.ts";
import { pruneAll } from "./inbox/prune.ts";
import type { RequestHandler, WebhookEvent } from "./model.ts";
import { type ReceiverOptions, readOptions } from "./options.ts";
import { receive, type Work } from "./receive.ts";
import type { Runtime } from "./runtime.ts";
import type { Service } from "./service.ts";

/**
 * `start()` works on the inbox and forgets what is past the window; needed in mode `inbox`, useful in all. `stop()` takes
 * nothing more from the inbox, and resolves when what is in hand has ended, deliveries among it. Close the server first: what it
 * lets in afterwards is handled, but not waited for.
 */
export interface Receiver<Tx, Catalogue> extends RequestHandler, Service {
  /**
   * One handler for a type, or for all types below a prefix (`order.*`); the most exact one gets an event. With several sources
   * say whose: `on("invoice.paid", handler, { source: "stripe" })`. Otherwise each of them can have the handler called.
   */
  on<Type extends Pattern<Catalogue>>(
    type: Type,
    handler: Handler<EventFor<Catalogue, Type>, Tx>,
    from?: SourceFilter,
  ): this;
  /** For every type without a handler. Without it they are acknowledged and forgotten. */
  fallback(handler: Handler<WebhookEvent, Tx>): this;
  /** Whatever speaks Fetch (Hono, the app router of Next.js, Bun, Deno, Workers): `export default { fetch: receiver.fetch }`. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly deadLetters: DeadLetters;
  /** For those who run it by a timer of their own instead of `start()`: forgets what is past the window; how much. */
  prune(): Promise<number>;
}

/** Throws for options that make no sense, with what to do. */
export function createReceiver<Tx, const Schemas extends EventSchemas = EventSchemas>(
  options: ReceiverOptions<Tx, Schemas>,
): Receiver<Tx, CatalogueOf<Schemas>> {
  const settings = readOptions(options);
  const { sources, store, events: schemas = {} } = options;
  const sourceNames = sources.map(({ name }) => name);
  const handlers = new Handlers<Tx>(schemas, sourceNames);
  const report = new Reporter(hooksOf(options));
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
  const work = workOf(runtime, worker);

  const receiver: Receiver<Tx, CatalogueOf<Schemas>> = {
    on(type, handler, from) {
      handlers.on(type, handler as Handler<WebhookEvent, Tx>, from);
      return receiver;
    },
    fallback(handler) {
      handlers.fallback(handler);
      return receiver;
    },
    receive: (request) => receive(runtime, work, request),
    fetch: (request) => handleFetch(request),
    deadLetters: deadLettersOf(runtime),
    prune: () => pruneAll(store, settings.terms),
    start: () => worker.start(),
    async stop() {
      await Promise.all([worker.stop(), drain(runtime, runtime.deliveries.settled())]);
    },
  };
  const handleFetch = fetchHandler(receiver);
  return receiver;
}

function hooksOf({ onRejected, onConflict, onFailure, onDead, onStale, onUnhandled }: Hooks): Hooks {
  return { onRejected, onConflict, onFailure, onDead, onStale, onUnhandled };
}

function workOf<Tx>(runtime: Runtime<Tx>, worker: InboxWorker<Tx>): Work {
  const { settings, store } = runtime;
  const { transactions } = store;
  if (settings.mode === "inbox") return (received) => acceptIntoInbox(runtime, received, () => worker.wake());
  if (settings.mode === "transactional" && transactions !== null) {
    return (received) => handleInTransaction(runtime, transactions, received);
  }
  return (received) => handleUnderLease(runtime, received);
}
