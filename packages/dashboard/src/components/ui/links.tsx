// Links to resources.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useEndpointUrl } from "../../api/endpoint-urls.ts";
import { usePortalTenant } from "../../api/session.ts";

interface LinkProps {
  readonly tenant: string;
  readonly className?: string;
  readonly children?: ReactNode;
}

/** Shows the URL by default. The portal has no pages of tenants. */
export function EndpointLink({
  tenant,
  id,
  search = {},
  className = "underline",
  children = <EndpointName tenant={tenant} id={id} />,
}: LinkProps & { readonly id: string; readonly search?: Readonly<Record<string, string>> }) {
  const to = usePortalTenant() === null ? "/tenants/$tenant/endpoints/$id" : "/endpoints/$id";
  return (
    <Link to={to} params={{ tenant, id }} search={search as never} className={className}>
      {children}
    </Link>
  );
}

/** Shows the id by default. */
export function IdLink({
  to,
  id,
  className = "underline",
  children = id,
}: Omit<LinkProps, "tenant"> & { readonly to: "/deliveries/$id" | "/events/$id"; readonly id: string }) {
  return (
    <Link to={to} params={{ id }} className={className}>
      {children}
    </Link>
  );
}

/** Shows the id by default. */
export function TenantLink({ tenant, className = "underline", children = tenant }: LinkProps) {
  return (
    <Link to="/tenants/$tenant" params={{ tenant }} className={className}>
      {children}
    </Link>
  );
}

/** The URL of an endpoint, or its id if it was deleted. */
export function EndpointName({ tenant, id }: { readonly tenant: string; readonly id: string }) {
  const url = useEndpointUrl(tenant, id);
  return (
    <span className="font-mono text-xs" title={url === null ? undefined : `${url} · ${id}`}>
      {/* without the common prefix, more of the distinctive part is visible */}
      {url?.replace(/^https:\/\//, "") ?? id}
    </span>
  );
}
