// A way to tell people that an endpoint was disabled. One file each, side by side.
import type { DisabledEndpoint } from "../storage/queries/notifications/describe.ts";

export type ChannelName = "mail" | "alert";

export interface Channel {
  readonly name: ChannelName;
  /** Never rejects for what a mail server or a receiver does; `notified` names who has it already. */
  send(endpoint: DisabledEndpoint, notified: readonly string[], signal: AbortSignal): Promise<Sent>;
}

export interface Sent {
  /** Addresses that have it now. */
  readonly notified: readonly string[];
  /** What went wrong with the others, in words for the log. Empty: everybody has it. */
  readonly problems: readonly string[];
}
