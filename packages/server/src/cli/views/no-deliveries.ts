// Explains why an event has no deliveries. Publishing to an unknown tenant is not an error, so a typo is reported here.
import { type EventDetail, PosthornApiError } from "@posthorn/client";
import type { Remote } from "../remote/remote.ts";
import { clean } from "../terminal/text.ts";

type Rejection = NonNullable<EventDetail["rejection"]>;

/** Returns one or several lines. */
export async function explainNoDeliveries(remote: Remote, event: EventDetail): Promise<string> {
  const { tenant, not_matched, rejection } = event;
  if (rejection !== null) return explainRejection(event, rejection);
  const name = clean(tenant);
  if (not_matched.length > 0)
    return [`No endpoint of ${name} received it:`, ...not_matched.map(explainNotMatched)].join("\n");
  return (
    (await unknownTenant(remote, tenant)) ??
    `${name} has no endpoints. List them with: posthorn endpoints list --tenant ${name}`
  );
}

/** Says what to do about an event that the catalogue rejected. */
export function explainRejection({ id }: EventDetail, rejection: Rejection): string {
  const release = `posthorn events release ${clean(id)}`;
  const reason = `The catalogue rejected it: ${clean(rejection.message)}`;
  if (rejection.discarded_at !== null)
    return `${reason}\nIt was discarded at ${rejection.discarded_at}. To deliver it after all: ${release}`;
  return [
    reason,
    `To deliver it as it is: ${release}`,
    `Not to deliver it: posthorn events discard ${clean(id)}`,
  ].join("\n");
}

/** Returns null if the tenant exists. */
async function unknownTenant({ client }: Remote, tenant: string): Promise<string | null> {
  if ((await client.tenants.get({ tenant }).catch(nullIfRejected)) !== null) return null;
  const name = clean(tenant);
  return `There is no tenant ${name}. Check its id, or create it: posthorn tenants put ${name}`;
}

/** Text for an empty list. Mentions it if the tenant of the filter does not exist. */
export async function emptyListText(
  remote: Remote,
  tenant: string | undefined,
  none: string,
): Promise<string> {
  const unknown = tenant === undefined ? null : await unknownTenant(remote, tenant);
  return unknown === null ? none : `${none} ${unknown}`;
}

export function explainNotMatched({ endpoint_id, detail }: EventDetail["not_matched"][number]): string {
  return `not sent to ${clean(endpoint_id)}: ${clean(detail)}`;
}

/** Returns null for a resource that does not exist or that the key may not read. */
export function nullIfRejected(error: unknown): null {
  if (error instanceof PosthornApiError && error.status < 500) return null;
  throw error;
}
