// Decides whether the hub accepts one more subscription of a host. Pure.
import type { SubscriptionCounts } from "../../storage/queries/websub/subscriptions.ts";
import type { HubConfig } from "./options.ts";

/**
 * Hosts with the same last two labels share a quota of half the free subscriptions, because the owner of a domain can
 * create any number of hosts. Half is also enough for shared domains such as co.uk and github.io.
 */
export function hasQuotaLeft(
  { ofHost, ofFamily, inAll }: SubscriptionCounts,
  {
    maxSubscriptions,
    maxSubscriptionsPerHost,
  }: Pick<HubConfig, "maxSubscriptions" | "maxSubscriptionsPerHost">,
): boolean {
  const free = maxSubscriptions - inAll;
  return ofHost < maxSubscriptionsPerHost && ofFamily < free;
}
