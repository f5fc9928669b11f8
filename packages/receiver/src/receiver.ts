// Puts a receiver together.
import { fetchHandler } from "./adapters/fetch.ts";
import { keepInInbox } from "./handle/accept-into-inbox.ts";
import { handleInTransaction } from "./handle/handle-in-transaction.ts";
import { handleUnderLease } from "./handle/handle-under-lease.ts";
import {
  type CatalogueOf,
  type EventFor,
  type EventSchemas,
  type From,
  type Handler,
  Handlers,
  type Pattern,
} from "./handle/handlers.ts";
import { type Hooks, Teller } from "./hooks/hooks.ts";
import { type DeadLetters, deadLettersOf } from "./inbox/dead-letters.ts";
import { endOrGiveUp, Ongoing } from "./inbox/in-flight.ts";
import { InboxWorker } from "./inbox/inbox-worker.ts";
import { pruneAll } from "./inbox/prune.ts";
import type { Receives, WebhookEvent } from "./model.ts";
import { type ReceiverOptions, readOptions } from "./options.ts";
import { receive, type Work } from "./receive.ts";
import type { Kit } from "./runtime.ts";
import type { Service } from "./service.ts";

/**
 * `start()` works on the inbox and forgets what is past the window; needed in mode `inbox`, useful in all. `stop()` takes
 * nothing more from the inbox, and resolves when what is in hand has ended, deliveries among it. Close the server first: what it
 * lets in afterwards is handled, but not waited for.
 */
export interface Receiver<Tx, Catalogue> extends Receives, Service {
  /**
   * One handler for a type, or for all types below a prefix (`order.*`); the most exact one gets an event. With several sources
   * say whose: `on("invoice.paid", handler, { source: "stripe" })`. Otherwise each of them can have the handler called.
   */
  on<Type extends Pattern<Catalogue>>(
    type: Type,
    handler: Handler<EventFor<Catalogue, Type>, Tx>,
    from?: From,
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
  const tell = new Teller(hooksOf(options));
  const kit: Kit<Tx> = { settings, sources, schemas, store, handlers, tell, deliveries: new Ongoing() };
  const worker = new InboxWorker(kit);
  const work = workOf(kit, worker);

  const receiver: Receiver<Tx, CatalogueOf<Schemas>> = {
    on(type, handler, from) {
      handlers.on(type, handler as Handler<WebhookEvent, Tx>, from);
      return receiver;
    },
    fallback(handler) {
      handlers.fallback(handler);
      return receiver;
    },
    receive: (request) => receive(kit, work, request),
    fetch: (request) => handleFetch(request),
    deadLetters: deadLettersOf(kit),
    prune: () => pruneAll(store, settings.terms),
    start: () => worker.start(),
    async stop() {
      await Promise.all([worker.stop(), endOrGiveUp(kit, kit.deliveries.ended())]);
    },
  };
  const handleFetch = fetchHandler(receiver);
  return receiver;
}

function hooksOf({ onRefused, onConflict, onFailure, onDead, onStale, onUnhandled }: Hooks): Hooks {
  return { onRefused, onConflict, onFailure, onDead, onStale, onUnhandled };
}

function workOf<Tx>(kit: Kit<Tx>, worker: InboxWorker<Tx>): Work {
  const { settings, store } = kit;
  const { transactions } = store;
  if (settings.mode === "inbox") return (received) => keepInInbox(kit, received, () => worker.wake());
  if (settings.mode === "transactional" && transactions !== null) {
    return (received) => handleInTransaction(kit, transactions, received);
  }
  return (received) => handleUnderLease(kit, received);
}
