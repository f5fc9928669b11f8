// Deletes messages past the window, in steps that hold no lock for long.
import type { Store } from "../store.ts";

const STEP = 1_000;

/** Returns the number of rows deleted until nothing was left or `goesOn` returned false. */
export async function pruneAll(
  store: Store,
  terms: { readonly windowMs: number },
  goesOn: () => boolean = () => true,
): Promise<number> {
  let forgotten = 0;
  while (goesOn()) {
    const step = await store.prune(STEP, terms);
    if (step === 0) break;
    forgotten += step;
  }
  return forgotten;
}
