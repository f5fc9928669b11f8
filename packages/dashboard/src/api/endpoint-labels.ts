// Looks up the names and URLs of endpoints by id, for pages whose data has only the id.
import { useMemo } from "react";
import { useApi } from "./use-api.ts";

export interface EndpointLabel {
  readonly name: string;
  readonly url: string;
}

/** Loaded once per tenant, not per row. */
const MAX_ENDPOINTS = 250;
const FRESH_MS = 60_000;

/** Names and URLs of the tenant's newest endpoints by id; undefined until loaded. */
function useEndpointLabels(tenant: string): Readonly<Record<string, EndpointLabel>> | undefined {
  const input = { tenant, query: { limit: MAX_ENDPOINTS } };
  const { data } = useApi("endpoints.list", input, { staleTime: FRESH_MS });
  return useMemo(
    () => data && Object.fromEntries(data.data.map((endpoint) => [endpoint.id, endpoint])),
    [data],
  );
}

/** Null until loaded, and for deleted endpoints. */
export function useEndpointLabel(tenant: string, endpoint: string): EndpointLabel | null {
  const labels = useEndpointLabels(tenant);
  const enabled = labels !== undefined && labels[endpoint] === undefined;
  const { data } = useApi("endpoints.get", { tenant, endpoint }, { enabled, staleTime: FRESH_MS });
  return labels?.[endpoint] ?? data ?? null;
}
