// What the parts of one receiver share.
import type { Context, EventSchemas, Handlers } from "./handle/handlers.ts";
import type { Reporter } from "./hooks/hooks.ts";
import type { InFlight } from "./inbox/in-flight.ts";
import type { Settings } from "./options.ts";
import type { Source } from "./source.ts";
import type { Store } from "./store.ts";

export interface Runtime<Tx> {
  readonly settings: Settings;
  readonly sources: readonly Source[];
  readonly schemas: EventSchemas;
  readonly store: Store<Tx>;
  readonly handlers: Handlers<Tx>;
  readonly report: Reporter;
  /** Deliveries whose events are being worked on. */
  readonly deliveries: InFlight;
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
