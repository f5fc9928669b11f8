// A store that records its calls and can fail.
import type { Store } from "@posthorn/receiver";

export interface WatchedStore<Tx> {
  readonly store: Store<Tx>;
  /** Names of the methods called, in order. */
  readonly calls: string[];
  /** Makes every method, or only these, throw from now on; null makes them work again. */
  failWith(error: Error | null, methods?: readonly string[]): void;
}

export function watchStore<Tx>(store: Store<Tx>): WatchedStore<Tx> {
  const calls: string[] = [];
  let failure: Error | null = null;
  let failing: readonly string[] | undefined;
  const watched = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value === "object" && value !== null) return watched(value);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          calls.push(String(name));
          if (failure !== null && (failing?.includes(String(name)) ?? true)) throw failure;
          return value.apply(target, args);
        };
      },
    });
  return {
    store: watched(store),
    calls,
    failWith: (error, methods) => {
      failure = error;
      failing = methods;
    },
  };
}
