// The state that the parts of one receiver share.
import type { EventSchemas, Handlers } from "./handle/handlers.ts";
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
