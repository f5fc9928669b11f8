// A way to notify people that an endpoint was disabled.
import type { DisabledEndpoint } from "../storage/queries/notifications/describe.ts";

export type ChannelName = "mail" | "alert";

export interface Channel {
  readonly name: ChannelName;
  /** Never rejects because of a mail server or receiver. Skips the addresses in `notified`. */
  send(endpoint: DisabledEndpoint, notified: readonly string[], signal: AbortSignal): Promise<Sent>;
}

export interface Sent {
  /** Addresses that were reached. */
  readonly notified: readonly string[];
  /** Errors for the others, for the log. */
  readonly problems: readonly string[];
}
