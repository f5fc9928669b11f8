// Repeats statements that failed because of a conflict with another transaction.
import { sqlState } from "./database.ts";

const MAX_TRIES = 10;

/** A serialization failure (if the default is REPEATABLE READ or SERIALIZABLE), or a deadlock. */
const conflicts = new Set(["40001", "40P01"]);

export async function retryConflicts<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === MAX_TRIES || !conflicts.has(sqlState(error) ?? "")) throw error;
    }
  }
}
