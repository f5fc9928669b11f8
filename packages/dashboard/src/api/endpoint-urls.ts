// Where an endpoint is, for whoever has its id alone: deliveries name endpoints by id, and people know them by URL.
import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";

type UrlById = Readonly<Record<string, string>>;

/** A list of deliveries asks once for each tenant in it, not for each row. */
const MOST_OF_TENANT = 250;
const FRESH_MS = 60_000;

function urlsOf(tenant: string): UseQueryOptions<UrlById> {
  return {
    queryKey: ["endpoint-urls", tenant],
    queryFn: async ({ signal }) => {
      const { data } = await api.endpoints.list({ tenant, query: { limit: MOST_OF_TENANT }, signal });
      return Object.fromEntries(data.map(({ id, url }) => [id, url]));
    },
    staleTime: FRESH_MS,
  };
}

/** Of a tenant's newest endpoints, to choose one. Undefined: not known, or not yet. */
export function useEndpointUrls(tenant: string | undefined): UrlById | undefined {
  return useQuery({ ...urlsOf(tenant ?? ""), enabled: tenant !== undefined }).data;
}

/** Null until it is known, and where the endpoint has been deleted. */
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
