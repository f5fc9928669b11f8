// Calls a handler with a time limit: a handler that hangs would hold a message, a connection and an inbox slot forever.
import { HandlerTimeout } from "../errors.ts";
import type { WebhookEvent } from "../model.ts";
import { withTimeout } from "../timeout.ts";
import type { Context, Handler } from "./handlers.ts";
import { revocableTx } from "./revocable-tx.ts";

export interface HandlerCall<Tx> {
  readonly handler: Handler<WebhookEvent, Tx>;
  readonly event: WebhookEvent;
  readonly failures: number;
  readonly timeoutMs: number;
  /** Aborted when the lease is lost; null if a transaction holds the message. */
  readonly leaseLost: AbortSignal | null;
}

/** Throws the handler's error, or `HandlerTimeout`: then the handler may still be running, and its signal is aborted. */
export async function callHandler<Tx>(call: HandlerCall<Tx>): Promise<void> {
  await callWith(new ContextWithoutTx<Tx>(call), call);
}

/** The same with a transaction, which the handler can use only until it ends. */
export async function callHandlerInTransaction<Tx>(tx: Tx, call: HandlerCall<Tx>): Promise<void> {
  const revocable = revocableTx(tx);
  try {
    await callWith(new TransactionContext(revocable.tx, call), call);
  } finally {
    revocable.revoke();
  }
}

function callWith<Tx>(
  context: HandlerContext<Tx>,
  { handler, event, timeoutMs }: HandlerCall<Tx>,
): Promise<unknown> {
  return withTimeout(
    async () => handler(event, context),
    timeoutMs,
    () => {
      const error = new HandlerTimeout(`The handler of ${event.type} took more than ${timeoutMs} ms.`);
      context.abort(error);
      return error;
    },
  );
}

/** A class, because an object literal with a getter takes microseconds. */
abstract class HandlerContext<Tx> implements Context<Tx> {
  abstract readonly tx: Tx;
  readonly failures: number;
  readonly #leaseLost: AbortSignal | null;
  #controller: AbortController | null = null;
  #signal: AbortSignal | null = null;
  #error: Error | null = null;

  constructor({ failures, leaseLost }: HandlerCall<Tx>) {
    this.failures = failures;
    this.#leaseLost = leaseLost;
  }

  /** Created when it is first read: most handlers do not use it, and it costs as much as an HMAC. */
  get signal(): AbortSignal {
    this.#signal ??= this.#createSignal();
    return this.#signal;
  }

  abort(error: Error): void {
    this.#error = error;
    this.#controller?.abort(error);
  }

  #createSignal(): AbortSignal {
    this.#controller = new AbortController();
    if (this.#error !== null) this.#controller.abort(this.#error);
    const { signal } = this.#controller;
    return this.#leaseLost === null ? signal : AbortSignal.any([this.#leaseLost, signal]);
  }
}

class TransactionContext<Tx> extends HandlerContext<Tx> {
  readonly tx: Tx;

  constructor(tx: Tx, call: HandlerCall<Tx>) {
    super(call);
    this.tx = tx;
  }
}

/** Reading `tx` throws, so that a handler cannot mistake a write outside any transaction for one inside. */
class ContextWithoutTx<Tx> extends HandlerContext<Tx> {
  get tx(): Tx {
    throw new TypeError(
      "`tx` is not available: the mode is lease, or the store has no transactions. Use your own connection.",
    );
  }
}
