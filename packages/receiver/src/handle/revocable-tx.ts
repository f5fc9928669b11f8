// A transaction that stops working when its handler ends. By then its connection may be part of another transaction or of
// none: a late query would be committed or rolled back with another event.

export interface RevocableTx<Tx> {
  readonly tx: Tx;
  /** From now on every use of `tx` throws. */
  revoke(): void;
}

export function revocableTx<Tx>(tx: Tx): RevocableTx<Tx> {
  let isRevoked = false;
  const assertNotRevoked = () => {
    if (isRevoked) throw new Error(REVOKED);
  };
  const proxy: object = new Proxy(tx as object, {
    get(target, name) {
      assertNotRevoked();
      // Read from the target, also for getters: private fields cannot be accessed through a proxy.
      const value = Reflect.get(target, name, target);
      return typeof value === "function" && isReplaceable(target, name) ? methodOf(target, value) : value;
    },
    set(target, name, value) {
      assertNotRevoked();
      return Reflect.set(target, name, value, target);
    },
    // Knex's transactions are functions.
    apply(target, self, given) {
      assertNotRevoked();
      return Reflect.apply(target as () => unknown, self, given);
    },
  });
  const revoke = () => {
    isRevoked = true;
  };
  return { tx: proxy as Tx, revoke };

  /** A proxy instead of a bound function, which would lose the function's own properties, such as Kysely's `fn.count`. */
  function methodOf(target: object, method: object): unknown {
    return new Proxy(method as () => unknown, {
      apply(called, self, given) {
        assertNotRevoked();
        return Reflect.apply(called, self === proxy ? target : self, given);
      },
    });
  }
}

/** Libraries compare `constructor`, and a proxy must return fixed properties unchanged. */
function isReplaceable(target: object, name: PropertyKey): boolean {
  if (name === "constructor") return false;
  const own = Reflect.getOwnPropertyDescriptor(target, name);
  return own === undefined || own.configurable === true || own.writable === true;
}

const REVOKED =
  "The handler has ended, and so has its transaction `tx`. Await every query before the handler returns; " +
  "later work needs its own connection.";
