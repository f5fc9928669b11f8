// What the parts of one receiver share.
import type { Context, EventSchemas, Handlers } from "./handle/handlers.ts";
import type { Teller } from "./hooks/hooks.ts";
import type { Ongoing } from "./inbox/in-flight.ts";
import type { Settings } from "./options.ts";
import type { Source } from "./source.ts";
import type { Store } from "./store.ts";

export interface Kit<Tx> {
  readonly settings: Settings;
  readonly sources: readonly Source[];
  readonly schemas: EventSchemas;
  readonly store: Store<Tx>;
  readonly handlers: Handlers<Tx>;
  readonly tell: Teller;
  /** Deliveries whose events are being worked on. */
  readonly deliveries: Ongoing;
}

export function contextWith<Tx>(tx: Tx, signal: AbortSignal, tries: number): Context<Tx> {
  return { tx, signal, tries };
}

/** A write outside of any transaction would be taken for one inside. */
export function contextWithoutTx<Tx>(signal: AbortSignal, tries: number): Context<Tx> {
  return {
    get tx(): Tx {
      throw new TypeError(
        "There is no `tx` here: the mode is lease, or the store has no transactions. Write by a connection of your own.",
      );
    },
    signal,
    tries,
  };
}
