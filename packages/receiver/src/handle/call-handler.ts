// A handler's turn, and its end: what hangs would keep a message, a connection and a place in the inbox for ever.
import { HandlerTimeout } from "../errors.ts";
import type { WebhookEvent } from "../model.ts";
import { contextWith } from "../runtime.ts";
import type { Context, Handler } from "./handlers.ts";
import { revocableTx } from "./revocable-tx.ts";

export interface Turn<Tx> {
  readonly timeoutMs: number;
  /** Aborted when the lease was lost; null where a transaction holds the message. */
  readonly leaseLost: AbortSignal | null;
  readonly context: (signal: AbortSignal) => Context<Tx>;
}

/** Throws what the handler throws, or `HandlerTimeout`: then the handler may still be running, and its signal is aborted. */
export async function callHandler<Tx>(
  handler: Handler<WebhookEvent, Tx>,
  event: WebhookEvent,
  { timeoutMs, leaseLost, context }: Turn<Tx>,
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

/** The same with a transaction, which is the handler's for its turn alone. */
export async function callHandlerInTransaction<Tx>(
  tx: Tx,
  tries: number,
  handler: Handler<WebhookEvent, Tx>,
  event: WebhookEvent,
  turn: Omit<Turn<Tx>, "context">,
): Promise<void> {
  const loan = revocableTx(tx);
  try {
    await callHandler(handler, event, { ...turn, context: (signal) => contextWith(loan.tx, signal, tries) });
  } finally {
    loan.end();
  }
}

async function callAsync<Tx>(
  handler: Handler<WebhookEvent, Tx>,
  event: WebhookEvent,
  context: Context<Tx>,
): Promise<void> {
  await handler(event, context);
}
