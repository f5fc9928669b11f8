// Limits the database connections that API calls use, because they share the pool with publishing and delivery. Without
// the limit, 200 clients paging through deliveries used all connections, and publishing stopped.
import { PosthornError } from "../../errors.ts";
import type { Semaphore } from "../../service/semaphore.ts";

/** Out of ten connections, if Posthorn has its own pool. */
export const MAX_CONCURRENT_CALLS = 4;
export const MAX_CONCURRENT_ANONYMOUS_CALLS = 2;
export const MAX_WAITING_CALLS = 1_000;
/** The same as the wait for a connection, so that a hanging database is reported. */
export const MAX_WAIT_MS = 5_000;

/** Returns the resource with methods limited by the semaphore. A method must not call another limited one: deadlock. */
export function limitConcurrency<Resource extends object>(
  resource: Resource,
  semaphore: Semaphore,
): Resource {
  const methods = Object.entries(resource).map(([name, method]) => [
    name,
    (...input: unknown[]): Promise<unknown> => runLimited(semaphore, () => method(...input)),
  ]);
  return Object.fromEntries(methods) as Resource;
}

function runLimited<Result>(semaphore: Semaphore, work: () => Promise<Result>): Promise<Result> {
  if (semaphore.waiting >= MAX_WAITING_CALLS) return Promise.reject(tooMany());
  return new Promise((resolve, reject) => {
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      reject(tooMany());
    }, MAX_WAIT_MS);
    const begin = async (): Promise<void> => {
      clearTimeout(timer);
      if (!isTimedOut) resolve(await work());
    };
    semaphore.run(begin).catch(reject);
  });
}

function tooMany(): PosthornError {
  return new PosthornError(
    "overloaded",
    "Too many calls are waiting for the database; try again in a second.",
  );
}
