// Calls a handler with a time limit: a handler that hangs would hold a message, a connection and an inbox slot forever.
import { HandlerTimeout } from "../errors.ts";
import type { WebhookEvent } from "../model.ts";
import { withTimeout } from "../timeout.ts";
import type { Context, Handler } from "./handlers.ts";
import { revocableTx } from "./revocable-tx.ts";

export interface HandlerCall<Tx> {
  readonly timeoutMs: number;
  /** Aborted when the lease is lost; null if a transaction holds the message. */
  readonly leaseLost: AbortSignal | null;
  readonly context: (late: LateSignal) => Context<Tx>;
}

/** Throws the handler's error, or `HandlerTimeout`: then the handler may still be running, and its signal is aborted. */
export async function callHandler<Tx>(
  handler: Handler<WebhookEvent, Tx>,
  event: WebhookEvent,
  { timeoutMs, leaseLost, context }: HandlerCall<Tx>,
): Promise<void> {
  const late = new LateSignal(leaseLost);
  const call = async () => handler(event, context(late));
  await withTimeout(call, timeoutMs, () => {
    const error = new HandlerTimeout(`The handler of ${event.type} took more than ${timeoutMs} ms.`);
    late.abort(error);
    return error;
  });
}

/** The same with a transaction, which the handler can use only until it ends. */
export async function callHandlerInTransaction<Tx>(
  tx: Tx,
  failures: number,
  handler: Handler<WebhookEvent, Tx>,
  event: WebhookEvent,
  { timeoutMs, leaseLost }: Omit<HandlerCall<Tx>, "context">,
): Promise<void> {
  const revocable = revocableTx(tx);
  const context = (late: LateSignal) => new TransactionContext(revocable.tx, failures, late);
  try {
    await callHandler(handler, event, { timeoutMs, leaseLost, context });
  } finally {
    revocable.revoke();
  }
}

/** A signal that is created when it is first read: most handlers do not use it, and it costs as much as an HMAC. */
export class LateSignal {
  readonly #leaseLost: AbortSignal | null;
  #controller: AbortController | null = null;
  #signal: AbortSignal | null = null;
  #error: Error | null = null;

  constructor(leaseLost: AbortSignal | null) {
    this.#leaseLost = leaseLost;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#create();
    return this.#signal;
  }

  abort(error: Error): void {
    this.#error = error;
    this.#controller?.abort(error);
  }

  #create(): AbortSignal {
    this.#controller = new AbortController();
    if (this.#error !== null) this.#controller.abort(this.#error);
    const { signal } = this.#controller;
    return this.#leaseLost === null ? signal : AbortSignal.any([this.#leaseLost, signal]);
  }
}

/** A class, because an object literal with a getter takes microseconds. */
class TransactionContext<Tx> implements Context<Tx> {
  readonly tx: Tx;
  readonly failures: number;
  readonly #late: LateSignal;

  constructor(tx: Tx, failures: number, late: LateSignal) {
    this.tx = tx;
    this.failures = failures;
    this.#late = late;
  }

  get signal(): AbortSignal {
    return this.#late.signal;
  }
}
