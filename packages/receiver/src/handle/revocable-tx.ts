// A transaction is a handler's until its turn ends. The connection below it is then part of somebody else's transaction, or
// of none: a query that comes late would be committed, or undone, with another event.

export interface RevocableTx<Tx> {
  readonly tx: Tx;
  /** What is asked of `tx` from now on throws. */
  end(): void;
}

export function revocableTx<Tx>(tx: Tx): RevocableTx<Tx> {
  let isOver = false;
  const refuseWhenOver = () => {
    if (isOver) throw new Error(OVER);
  };
  const lent: object = new Proxy(tx as object, {
    get(target, name) {
      refuseWhenOver();
      // Of the target, also for getters: private fields are not reached through a proxy.
      const value = Reflect.get(target, name, target);
      return typeof value === "function" && isReplaceable(target, name) ? methodOf(target, value) : value;
    },
    set(target, name, value) {
      refuseWhenOver();
      return Reflect.set(target, name, value, target);
    },
    // Knex's transactions are functions.
    apply(target, self, given) {
      refuseWhenOver();
      return Reflect.apply(target as () => unknown, self, given);
    },
  });
  const end = () => {
    isOver = true;
  };
  return { tx: lent as Tx, end };

  /** A proxy and no bound function, which would lose what the function has of its own, such as Kysely's `fn.count`. */
  function methodOf(target: object, method: object): unknown {
    return new Proxy(method as () => unknown, {
      apply(called, self, given) {
        refuseWhenOver();
        return Reflect.apply(called, self === lent ? target : self, given);
      },
    });
  }
}

/** Libraries tell classes apart by `constructor`, and the language wants what is fixed as it is. */
function isReplaceable(target: object, name: PropertyKey): boolean {
  if (name === "constructor") return false;
  const own = Reflect.getOwnPropertyDescriptor(target, name);
  return own === undefined || own.configurable === true || own.writable === true;
}

const OVER =
  "The handler has ended, and with it the transaction it was given as `tx`. Await every query before the handler returns; " +
  "what goes on afterwards needs a connection of its own.";
