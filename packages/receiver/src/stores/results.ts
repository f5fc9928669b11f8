// What all stores return and keep alike.

/** Characters of an error that are stored. */
export const MAX_ERROR_LENGTH = 1_000;

/** A result without a claim, from its kind and, if it has one, its wait in milliseconds. */
export function resultOf<Result>(kind: unknown, waitMs: unknown): Result {
  const waits = kind === "running" || kind === "gap";
  return (waits ? { kind, retryAfterMs: Number(waitMs) } : { kind }) as Result;
}
