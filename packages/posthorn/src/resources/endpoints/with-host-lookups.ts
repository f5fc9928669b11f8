// Looks up the hosts of new URLs before an endpoint is created or changed. Outside the transaction, which locks the tenant,
// and outside the limit on concurrent calls: a silent name server must delay neither publishing nor other callers.
import { isObject, parseId } from "@posthorn/wire";
import type { HostFindings, LookUpHosts } from "../../attempt/guard/look-up-hosts.ts";
import type { Uuid } from "../../model.ts";
import type { CreatedEndpoint, Endpoints, UpdatedEndpoint } from "./endpoints.ts";
import { type ImportInput, type ImportResult, maxImported } from "./import.ts";
import type { EndpointInput, EndpointPatch } from "./settings.ts";

/** The changes that need lookups, with what these found. */
export interface LookedUpEndpoints extends Omit<Endpoints, "create" | "update" | "import"> {
  create(tenant: string, input: EndpointInput, hosts: HostFindings): Promise<CreatedEndpoint>;
  update(tenant: string, id: string, patch: EndpointPatch, hosts: HostFindings): Promise<UpdatedEndpoint>;
  import(tenant: string, input: ImportInput, hosts: HostFindings): Promise<ImportResult>;
  /** Returns the URLs of those of the endpoints that the tenant has. */
  urlsOf(tenant: string, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, string>>;
}

/** Input that is not checked yet. */
interface Given {
  readonly id?: unknown;
  readonly url?: unknown;
}

export function withHostLookups(endpoints: LookedUpEndpoints, lookUpHosts: LookUpHosts): Endpoints {
  const { urlsOf, ...others } = endpoints;
  return {
    ...others,
    create: async (tenant, input) => endpoints.create(tenant, input, await hostsOf(tenant, [input])),
    update: async (tenant, id, patch) =>
      endpoints.update(tenant, id, patch, await hostsOf(tenant, [{ ...patch, id }])),
    import: async (tenant, input) => endpoints.import(tenant, input, await hostsOf(tenant, itemsOf(input))),
  };

  /** Skips URLs that the endpoints have already. */
  async function hostsOf(tenant: string, given: readonly Given[]): Promise<HostFindings> {
    const withUrl = given.filter((item) => isObject(item) && item.url !== undefined);
    const ids = withUrl.map(idOf).filter((id) => id !== null);
    const current = ids.length > 0 ? await urlsOf(tenant, ids) : null;
    const isNew = (item: Given) => current?.get(idOf(item) ?? "") !== item.url;
    return await lookUpHosts(
      tenant,
      withUrl.filter(isNew).map(({ url }) => url),
    );
  }
}

function idOf({ id }: Given): Uuid | null {
  return parseId("ep", String(id));
}

/** Returns none if the import will be rejected. */
function itemsOf(input: ImportInput | null | undefined): readonly Given[] {
  const items: unknown = input?.endpoints;
  return Array.isArray(items) && items.length <= maxImported ? items : [];
}
