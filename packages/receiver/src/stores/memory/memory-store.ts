// The store that loses its content when the process ends: for tests, and for a single process that may handle an event again
// after a restart.
import type { Store } from "../../store.ts";
import { StateMachine, storeMethods } from "../state-machine.ts";
import { MemoryTable } from "./memory-table.ts";
import { MemorySubscriptions } from "./subscriptions.ts";

export interface MemoryStore extends Store<never> {
  /** The number of stored messages and subjects. */
  readonly size: number;
}

export function memoryStore(): MemoryStore {
  const table = new MemoryTable();
  const methods = storeMethods(new StateMachine(table), table, async (step) => step());
  return {
    ...methods,
    transactions: null,
    subscriptions: new MemorySubscriptions(),
    migrate: async () => {},
    claim(message, options) {
      table.deleteOldest(Date.now() - options.windowMs);
      return methods.claim(message, options);
    },
    accept(message, options) {
      table.deleteOldest(Date.now() - options.windowMs);
      return methods.accept(message, options);
    },
    get size() {
      return table.size;
    },
  };
}
