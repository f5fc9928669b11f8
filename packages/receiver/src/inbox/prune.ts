// Forgetting what is past the window, in steps that hold no lock for long.
import type { Store } from "../store.ts";

const STEP = 1_000;

/** How much was forgotten, before nothing was left or `goesOn` said no. */
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
