// The state that the parts of one receiver share.
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
  /** Deliveries whose events are being handled. */
  readonly deliveries: InFlight;
}

export function contextWith<Tx>(tx: Tx, signal: AbortSignal, tries: number): Context<Tx> {
  return { tx, signal, tries };
}

/** Reading `tx` throws, so that a handler cannot mistake a write outside any transaction for one inside. */
export function contextWithoutTx<Tx>(signal: AbortSignal, tries: number): Context<Tx> {
  return {
    get tx(): Tx {
      throw new TypeError(
        "`tx` is not available: the mode is lease, or the store has no transactions. Use your own connection.",
      );
    },
    signal,
    tries,
  };
}
