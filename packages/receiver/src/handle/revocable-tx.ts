// A transaction that stops working when its handler ends. By then its connection may be part of another transaction or of
// none: a late query would be committed or rolled back with another event.

/** After `revoke` every use of `tx` throws. */
export function revocableTx<Tx>(tx: Tx) {
  const revocable = new Revocable();
  const proxy: object = new Proxy(tx as object, revocable);
  revocable.proxy = proxy;
  const revoke = () => {
    revocable.isRevoked = true;
  };
  return { tx: proxy as Tx, revoke };
}

/** A class, because an object with its own functions for each message would cost more than the proxy. */
class Revocable implements ProxyHandler<object> {
  isRevoked = false;
  proxy: object | null = null;

  get(target: object, name: PropertyKey): unknown {
    this.assertNotRevoked();
    // Read from the target, also for getters: private fields cannot be accessed through a proxy.
    const value = Reflect.get(target, name, target);
    if (typeof value !== "function" || !isReplaceable(target, name)) return value;
    // A proxy instead of a bound function, which would lose the function's own properties, such as Kysely's `fn.count`.
    return new Proxy(value, new RevocableMethod(this, target));
  }

  set(target: object, name: PropertyKey, value: unknown): boolean {
    this.assertNotRevoked();
    return Reflect.set(target, name, value, target);
  }

  /** Knex's transactions are functions. */
  apply(target: object, self: unknown, args: unknown[]): unknown {
    this.assertNotRevoked();
    return Reflect.apply(target as () => unknown, self, args);
  }

  assertNotRevoked(): void {
    if (this.isRevoked) throw new Error(REVOKED);
  }
}

class RevocableMethod implements ProxyHandler<() => unknown> {
  readonly #of: Revocable;
  readonly #target: object;

  constructor(of: Revocable, target: object) {
    this.#of = of;
    this.#target = target;
  }

  apply(called: () => unknown, self: unknown, args: unknown[]): unknown {
    this.#of.assertNotRevoked();
    return Reflect.apply(called, self === this.#of.proxy ? this.#target : self, args);
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
