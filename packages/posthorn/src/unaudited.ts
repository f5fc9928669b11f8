// Our own server records its requests in the audit log itself. It finds the resources that record nothing here.
import type { LibraryResources } from "./library-resources.ts";
import type { Posthorn } from "./public-types.ts";
import type { RecordChange } from "./resources/access/record-change.ts";

interface Unaudited {
  readonly resources: LibraryResources;
  readonly record: RecordChange;
}

/** Registered, because an application may load another copy of the library. A copy of the instance has it too. */
const UNAUDITED = Symbol.for("posthorn.unaudited");

export function withUnaudited<Instance extends Posthorn>(instance: Instance, unaudited: Unaudited): Instance {
  return Object.defineProperty(instance, UNAUDITED, { value: unaudited, enumerable: true });
}

/** Returns the instance with resources whose changes are not recorded, and the function that records a change. */
export function unaudited(hooks: Posthorn): { readonly hooks: Posthorn; readonly record: RecordChange } {
  const { resources, record } = (hooks as unknown as Record<symbol, Unaudited>)[UNAUDITED] as Unaudited;
  return { hooks: Object.assign(Object.create(hooks), resources), record };
}
