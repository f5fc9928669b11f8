// Looks up endpoint URLs by id: deliveries reference endpoints by id, users know them by URL.
import { useMemo } from "react";
import { useApi } from "./use-api.ts";

type UrlById = Readonly<Record<string, string>>;

/** Loaded once per tenant, not per row. */
const MAX_ENDPOINTS = 250;
const FRESH_MS = 60_000;

/** URLs of the tenant's newest endpoints by id; undefined until loaded. */
export function useEndpointUrls(tenant: string | undefined): UrlById | undefined {
  const input = { tenant: tenant ?? "", query: { limit: MAX_ENDPOINTS } };
  const { data } = useApi("endpoints.list", input, { enabled: tenant !== undefined, staleTime: FRESH_MS });
  return useMemo(() => data && Object.fromEntries(data.data.map(({ id, url }) => [id, url])), [data]);
}

/** The URL; null until loaded, and for deleted endpoints. */
export function useEndpointUrl(tenant: string, endpoint: string): string | null {
  const urls = useEndpointUrls(tenant);
  const enabled = urls !== undefined && urls[endpoint] === undefined;
  const { data } = useApi("endpoints.get", { tenant, endpoint }, { enabled, staleTime: FRESH_MS });
  return urls?.[endpoint] ?? data?.url ?? null;
}
