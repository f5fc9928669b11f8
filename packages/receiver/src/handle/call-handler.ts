// Calls a handler with a time limit: a handler that hangs would hold a message, a connection and an inbox slot for ever.
import { HandlerTimeout } from "../errors.ts";
import type { WebhookEvent } from "../model.ts";
import { contextWith } from "../runtime.ts";
import type { Context, Handler } from "./handlers.ts";
import { revocableTx } from "./revocable-tx.ts";

export interface HandlerCall<Tx> {
  readonly timeoutMs: number;
  /** Aborted when the lease is lost; null if a transaction holds the message. */
  readonly leaseLost: AbortSignal | null;
  readonly context: (signal: AbortSignal) => Context<Tx>;
}

/** Throws the handler's error, or `HandlerTimeout`: then the handler may still be running, and its signal is aborted. */
export async function callHandler<Tx>(
  handler: Handler<WebhookEvent, Tx>,
  event: WebhookEvent,
  { timeoutMs, leaseLost, context }: HandlerCall<Tx>,
): Promise<void> {
  const late = new AbortController();
  const signal = leaseLost === null ? late.signal : AbortSignal.any([leaseLost, late.signal]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new HandlerTimeout(`The handler of ${event.type} took more than ${timeoutMs} ms.`);
      late.abort(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    await Promise.race([callAsync(handler, event, context(signal)), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The same with a transaction, which the handler can use only until it ends. */
export async function callHandlerInTransaction<Tx>(
  tx: Tx,
  tries: number,
  handler: Handler<WebhookEvent, Tx>,
  event: WebhookEvent,
  call: Omit<HandlerCall<Tx>, "context">,
): Promise<void> {
  const revocable = revocableTx(tx);
  try {
    await callHandler(handler, event, {
      ...call,
      context: (signal) => contextWith(revocable.tx, signal, tries),
    });
  } finally {
    revocable.revoke();
  }
}

async function callAsync<Tx>(
  handler: Handler<WebhookEvent, Tx>,
  event: WebhookEvent,
  context: Context<Tx>,
): Promise<void> {
  await handler(event, context);
}
