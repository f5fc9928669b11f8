// The URL of an endpoint, or its id if it was deleted.
import { useEndpointUrl } from "../../api/endpoint-urls.ts";

export function EndpointName({ tenant, id }: { readonly tenant: string; readonly id: string }) {
  const url = useEndpointUrl(tenant, id);
  return (
    <span className="font-mono text-xs" title={url === null ? undefined : `${url} · ${id}`}>
      {/* without the common prefix, more of the distinctive part is visible */}
      {url?.replace(/^https:\/\//, "") ?? id}
    </span>
  );
}
