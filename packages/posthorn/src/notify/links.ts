// Links in mails and chat messages: to the portal for customers, to the dashboard for operators.
import { formatId } from "@posthorn/wire";
import type { Notice } from "../storage/queries/notifications/notifications.ts";

export interface Links {
  /** The base URL of this server. Null if there is none. */
  readonly publicUrl: string | null;
  /** The page where customers open the portal, with `{tenant}` and `{endpoint}`. Null: the portal of this server. */
  readonly customerPortalUrl: string | null;
  readonly operatorTenant: string | null;
}

type Place = Pick<Notice, "kind" | "tenant" | "endpointId">;

/** Returns null if no URL is known. */
export function portalLink(place: Place, { publicUrl, customerPortalUrl }: Links): string | null {
  const endpoint = formatId("ep", place.endpointId);
  if (customerPortalUrl !== null)
    return customerPortalUrl
      .replaceAll("{tenant}", encodeURIComponent(place.tenant))
      .replaceAll("{endpoint}", encodeURIComponent(endpoint));
  if (publicUrl === null) return null;
  const page = place.kind === "dead" ? `logs?${deadOf({ endpoint })}` : `endpoints/${endpoint}`;
  return `${withoutSlash(publicUrl)}/portal/${page}`;
}

/** Returns null if no URL is known. */
export function dashboardLink({ kind, tenant, endpointId }: Place, { publicUrl }: Links): string | null {
  if (publicUrl === null) return null;
  const endpoint = formatId("ep", endpointId);
  const page =
    kind === "dead"
      ? `dead-letters?${new URLSearchParams({ tenant, endpoint })}`
      : `tenants/${encodeURIComponent(tenant)}/endpoints/${endpoint}`;
  return `${withoutSlash(publicUrl)}/${page}`;
}

/** Members of the operator tenant are operators; those of other tenants are customers. */
export function linkFor(place: Place, links: Links): string | null {
  const operators = place.tenant === links.operatorTenant ? dashboardLink(place, links) : null;
  return operators ?? portalLink(place, links);
}

function deadOf(filter: { readonly endpoint: string }): string {
  return new URLSearchParams({ state: "dead", ...filter }).toString();
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
