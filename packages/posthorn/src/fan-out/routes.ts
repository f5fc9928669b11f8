// The targets of each tenant, cached. The ingest statement compares the cached version in the snapshot it writes in,
// so a publish always sees an endpoint that was committed before it.
import { BoundedMap } from "@posthorn/wire";
import type { Target } from "../model.ts";
import { matches } from "./matches.ts";

export interface TenantRoutes {
  /** 0 for a tenant that is not registered: its events are stored without deliveries. */
  readonly version: number;
  readonly isActive: boolean;
  readonly targets: readonly Target[];
}

/** For the tenants in `known`, only changed targets need to be read. */
export type LoadRoutes = (
  tenants: readonly string[],
  known: ReadonlyMap<string, readonly Target[]>,
) => Promise<ReadonlyMap<string, TenantRoutes>>;

const maxTenants = 20_000;
const maxTypesPerTenant = 1_000;
/**
 * A tenant with more targets than this is read again only where it changed. With 10,000 targets, some of which change every
 * second, reading all of them takes longer than a second, and no publish would ever find them unchanged.
 */
const maxReadAgain = 100;

export class Routes {
  readonly #load: LoadRoutes;
  readonly #known = new BoundedMap<
    string,
    { routes: TenantRoutes; byType: BoundedMap<string, readonly Target[]> }
  >(maxTenants);
  /** Targets of changed tenants; most of them are still current. */
  readonly #outdated = new Map<string, readonly Target[]>();

  constructor(load: LoadRoutes) {
    this.#load = load;
  }

  /** Loads the routes of tenants that are not cached. */
  async ensure(tenants: Iterable<string>): Promise<void> {
    const missing: string[] = [];
    for (const tenant of tenants) if (this.#known.get(tenant) === undefined) missing.push(tenant);
    if (missing.length === 0) return;
    const outdated = new Map([...this.#outdated].filter(([tenant]) => missing.includes(tenant)));
    const loaded = await this.#load(missing, outdated);
    for (const [tenant, routes] of loaded) {
      this.#known.set(tenant, { routes, byType: new BoundedMap(maxTypesPerTenant) });
      this.#outdated.delete(tenant);
    }
  }

  versionOf(tenant: string): number {
    return this.#known.get(tenant)?.routes.version ?? 0;
  }

  matching(tenant: string, type: string): readonly Target[] {
    const entry = this.#known.get(tenant);
    if (entry === undefined || !entry.routes.isActive) return [];
    let targets = entry.byType.get(type);
    if (targets === undefined) {
      targets = entry.routes.targets.filter((target) => matches(target.events, type));
      entry.byType.set(type, targets);
    }
    return targets;
  }

  /** Drops the routes of tenants that have changed. */
  forget(tenants: Iterable<string>): void {
    for (const tenant of tenants) {
      const targets = this.#known.get(tenant)?.routes.targets ?? [];
      if (targets.length > maxReadAgain) this.#outdated.set(tenant, targets);
      this.#known.delete(tenant);
    }
  }
}
