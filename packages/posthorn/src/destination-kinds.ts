// The registry of destinations: a new kind is a folder in destinations/ and a line here.
import { PUBLIC_ONLY } from "./attempt/guard/guard-address.ts";
import type { Config } from "./config.ts";
import type { DestinationOf, DestinationService, Sender } from "./destinations/destination.ts";
import { handshakeKind } from "./destinations/handshake/handshake-webhook.ts";
import { Handshaker, type HandshakerOptions } from "./destinations/handshake/handshaker.ts";
import { WEBHOOK } from "./destinations/webhook/webhook.ts";
import { Hub, type HubOptions } from "./destinations/websub/hub.ts";
import { subscriberKind } from "./destinations/websub/subscriber.ts";
import { subscriptionKind } from "./destinations/websub/subscriptions.ts";
import type { EngineAccess } from "./engine.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { Database } from "./storage/database.ts";
import type { KeyRing } from "./storage/key-ring.ts";

export interface DestinationKindsOptions {
  readonly config: Config;
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
}

export type DestinationKinds = ReturnType<typeof createDestinationKinds>;

export function createDestinationKinds(options: DestinationKindsOptions) {
  const { config, ...shared } = options;
  const { logger, userAgent, publicUrl, websub: hub } = config;
  const { timeoutMs } = config.endpointDefaults;
  const subscriber = subscriberKind(hub);
  const destinationOf: DestinationOf = (row) => subscriber(row) ?? handshakeKind(row) ?? WEBHOOK;
  return {
    destinationOf,
    subscriptions: subscriptionKind,
    /** For URLs that come from anonymous parties. */
    untrustedPolicy: hub?.addressPolicy ?? PUBLIC_ONLY,
    createServices(engine: EngineAccess, settle: HandshakerOptions["settle"]): DestinationService[] {
      const send: Sender["send"] = (request, signal) => engine.dispatchers.send(request, signal);
      const { db } = options;
      const handshaker = new Handshaker({ db, logger, userAgent, publicUrl, timeoutMs, send, settle });
      if (hub === null) return [handshaker];
      const onChanged = ({ owner }: { readonly owner: number | null }) => engine.notifySettingsChanged(owner);
      const publish: HubOptions["publish"] = (event) => engine.publishers.publish(event);
      return [new Hub({ ...shared, logger, userAgent, hub, onChanged, publish, send }), handshaker];
    },
  };
}
