// What can be thrown, by the kit and by handlers.

/** Something read or parsed the body before the receiver saw it. Answered with 500, so that the sender tries again. */
export class BodyNotRaw extends Error {
  override readonly name = "BodyNotRaw";

  constructor(reason: string, fix: string) {
    super(`The bytes that were signed are gone, so the request cannot be verified: ${reason}. ${fix}`);
  }
}

/** Thrown by a handler: trying again is of no use. The message becomes a dead letter at once. */
export class PermanentFailure extends Error {
  override readonly name = "PermanentFailure";
}

/** Thrown by a handler that cannot work now: the sender is told when to come again, the inbox waits so long. */
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
 * What a handler was given up with that took longer than `handlerTimeoutMs`. It may still be running, so a transaction it was
 * given must not be used by anybody else afterwards.
 */
export class HandlerTimeout extends Error {
  override readonly name = "HandlerTimeout";
}

/** Thrown by a handler that wants nothing more from this sender: 410, at which many senders stop for good. */
export class EndpointGone extends Error {
  override readonly name = "EndpointGone";
}
