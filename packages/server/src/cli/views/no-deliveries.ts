// Why an event reached nobody: publishing to a tenant that does not exist is no error, so a typo is told here.
import { type EventDetail, PosthornApiError } from "@posthorn/client";
import type { Remote } from "../remote/remote.ts";
import { clean } from "../terminal/text.ts";

/** A sentence or several lines. */
export async function explainNoDeliveries(remote: Remote, event: EventDetail): Promise<string> {
  const { tenant, not_matched } = event;
  const name = clean(tenant);
  if (not_matched.length > 0)
    return [`None of the endpoints of ${name} got it:`, ...not_matched.map(explainNotMatched)].join("\n");
  return (
    (await unknownTenant(remote, tenant)) ??
    `${name} had no endpoint. See what there is: posthorn endpoints list --tenant ${name}`
  );
}

/** Null: there is one of that name. */
async function unknownTenant({ client }: Remote, tenant: string): Promise<string | null> {
  if ((await client.tenants.get({ tenant }).catch(nullIfRejected)) !== null) return null;
  const name = clean(tenant);
  return `There is no tenant ${name}. Check its id, or make it: posthorn tenants put ${name}`;
}

/** Of an empty list that was narrowed to a tenant: events of one that does not exist are taken too, so it is no error. */
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

/** Null for what is not there, or not for this key to see. */
export function nullIfRejected(error: unknown): null {
  if (error instanceof PosthornApiError && error.status < 500) return null;
  throw error;
}
