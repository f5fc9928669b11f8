// The errors that the receiver and handlers throw.

/** The body was read or parsed before the receiver saw it. The response is 500, so that the sender retries. */
export class BodyNotRaw extends Error {
  override readonly name = "BodyNotRaw";

  constructor(reason: string, fix: string) {
    super(`The raw body is not available, so the signature cannot be verified: ${reason}. ${fix}`);
  }
}

/** Thrown by a handler if a retry is pointless. The message becomes a dead letter at once. */
export class PermanentFailure extends Error {
  override readonly name = "PermanentFailure";
}

/** Thrown by a handler that cannot work now. The sender gets `Retry-After`; the inbox waits for that long. */
export class RetryLater extends Error {
  override readonly name = "RetryLater";
  readonly afterMs: number;

  constructor(
    message: string,
    { afterMs = 60_000, ...options }: ErrorOptions & { readonly afterMs?: number } = {},
  ) {
    super(message, options);
    if (!(afterMs >= 0 && afterMs <= MAX_RETRY_AFTER_MS)) {
      throw new RangeError(
        `afterMs of RetryLater is a number from 0 to ${MAX_RETRY_AFTER_MS}, not ${afterMs}.`,
      );
    }
    this.afterMs = afterMs;
  }
}

const MAX_RETRY_AFTER_MS = 30 * 86_400_000;

/**
 * A handler took longer than `handlerTimeoutMs`. It may still be running, so its transaction must not be reused
 * afterwards.
 */
export class HandlerTimeout extends Error {
  override readonly name = "HandlerTimeout";
}

/** Thrown by a handler that wants no more events from this sender: 410, after which many senders stop for good. */
export class EndpointGone extends Error {
  override readonly name = "EndpointGone";
}
