// Whether the hub takes one more subscription to a host. Pure.
import type { SubscriptionCounts } from "../../storage/queries/websub/subscriptions.ts";
import type { HubConfig } from "./options.ts";

/**
 * Names with the same last two labels have as many as are still free: whoever owns a name owns any number of hosts under it,
 * and gets half of what there is, the next one half of the rest. Half is also plenty for names that many share, such as
 * co.uk and github.io.
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
