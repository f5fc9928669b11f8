// Questions and changes share the connections with publishing and delivery. However many are asked at once, they use a
// part of them only: with 200 clients paging through deliveries, they took all of them, and publishing stood still.
import { PosthornError } from "../../errors.ts";
import type { Semaphore } from "../../service/semaphore.ts";

/** Of the ten connections of an own pool. */
export const CALLS_AT_ONCE = 4;
export const STRANGERS_AT_ONCE = 2;
export const MOST_WAITING_CALLS = 1_000;
/** As long as one waits for a connection: a database that hangs is told of, not waited for in a line. */
export const LONGEST_WAIT_MS = 5_000;

/** The same methods, each in its turn. None of them may call another one in its turn: it would wait for itself. */
export function inTurn<Resource extends object>(resource: Resource, semaphore: Semaphore): Resource {
  const methods = Object.entries(resource).map(([name, method]) => [
    name,
    (...input: unknown[]): Promise<unknown> => takeTurn(semaphore, () => method(...input)),
  ]);
  return Object.fromEntries(methods) as Resource;
}

function takeTurn<Result>(semaphore: Semaphore, work: () => Promise<Result>): Promise<Result> {
  if (semaphore.waiting >= MOST_WAITING_CALLS) return Promise.reject(tooMany());
  return new Promise((resolve, reject) => {
    let hasGivenUp = false;
    const giveUp = setTimeout(() => {
      hasGivenUp = true;
      reject(tooMany());
    }, LONGEST_WAIT_MS);
    const begin = async (): Promise<void> => {
      clearTimeout(giveUp);
      if (!hasGivenUp) resolve(await work());
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
