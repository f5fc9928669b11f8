// Links to resources.
import { hostOf } from "@posthorn/wire";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type EndpointLabel, useEndpointLabel } from "../../api/endpoint-labels.ts";
import { usePortalTenant } from "../../api/session.ts";

interface LinkProps {
  readonly tenant: string;
  readonly className?: string;
  readonly children?: ReactNode;
}

/** Shows the name and URL by default. The portal has no pages of tenants. */
export function EndpointLink({
  tenant,
  id,
  search = {},
  className = "underline",
  children = <EndpointOfId tenant={tenant} id={id} />,
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

/** The name and URL of an endpoint, or its id if it was deleted. */
function EndpointOfId({ tenant, id }: { readonly tenant: string; readonly id: string }) {
  const label = useEndpointLabel(tenant, id);
  return label === null ? <span className="font-mono">{id}</span> : <EndpointName {...label} />;
}

/** The name, then the URL. A name that follows from the URL is shown as its host. */
export function EndpointName({ name, url }: EndpointLabel) {
  // without the common prefix, more of the distinctive part is visible
  const rest = url.replace(/^https:\/\//, "");
  const isHost = name === hostOf(url);
  const [before = "", after = ""] = isHost ? splitAt(rest, rest.indexOf(name) + name.length) : [];
  return (
    <span title={url}>
      {isHost ? <span className="font-mono">{before}</span> : name}
      <span className="font-mono text-muted">{isHost ? after : ` ${rest}`}</span>
    </span>
  );
}

function splitAt(text: string, index: number): [before: string, after: string] {
  return [text.slice(0, index), text.slice(index)];
}
