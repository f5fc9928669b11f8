// Looks up endpoint URLs by id: deliveries reference endpoints by id, users know them by URL.
import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";

type UrlById = Readonly<Record<string, string>>;

/** Loaded once per tenant, not per row. */
const MAX_ENDPOINTS = 250;
const FRESH_MS = 60_000;

function urlsOf(tenant: string): UseQueryOptions<UrlById> {
  return {
    queryKey: ["endpoint-urls", tenant],
    queryFn: async ({ signal }) => {
      const { data } = await api.endpoints.list({ tenant, query: { limit: MAX_ENDPOINTS }, signal });
      return Object.fromEntries(data.map(({ id, url }) => [id, url]));
    },
    staleTime: FRESH_MS,
  };
}

/** URLs of the tenant's newest endpoints by id; undefined until loaded. */
export function useEndpointUrls(tenant: string | undefined): UrlById | undefined {
  return useQuery({ ...urlsOf(tenant ?? ""), enabled: tenant !== undefined }).data;
}

/** The URL; null until loaded, and for deleted endpoints. */
export function useEndpointUrl(tenant: string, endpoint: string): string | null {
  const urls = useEndpointUrls(tenant);
  const { data: url } = useQuery({
    queryKey: ["endpoint-url", endpoint],
    queryFn: async ({ signal }) => (await api.endpoints.get({ tenant, endpoint, signal })).url,
    enabled: urls !== undefined && urls[endpoint] === undefined,
    staleTime: FRESH_MS,
  });
  return urls?.[endpoint] ?? url ?? null;
}
