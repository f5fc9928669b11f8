// Forgetting what is past the window, in steps that hold no lock for long.
import type { Store } from "./store.ts";

const STEP = 1_000;

/** How much was forgotten. */
export async function pruneAll(store: Store, terms: { readonly windowMs: number }): Promise<number> {
  let forgotten = 0;
  for (let step = await store.prune(STEP, terms); step > 0; step = await store.prune(STEP, terms))
    forgotten += step;
  return forgotten;
}
