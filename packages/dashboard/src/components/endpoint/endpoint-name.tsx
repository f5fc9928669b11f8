// An endpoint by its URL; by its id where that is all that is left of it.
import { useEndpointUrl } from "../../api/endpoint-urls.ts";

export function EndpointName({ tenant, id }: { readonly tenant: string; readonly id: string }) {
  const url = useEndpointUrl(tenant, id);
  return (
    <span className="font-mono text-xs" title={url === null ? undefined : `${url} · ${id}`}>
      {/* nearly all have it: left out, more is seen of what tells them apart */}
      {url?.replace(/^https:\/\//, "") ?? id}
    </span>
  );
}
