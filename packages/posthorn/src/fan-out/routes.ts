// Who gets what, cached per tenant. A cached entry is never trusted: the ingest statement compares its version in the
// same snapshot it writes in, so an endpoint committed before a publish is always seen by it.
import type { Target } from "../model.ts";
import { matches } from "./matches.ts";

export interface TenantRoutes {
  /** 0 for a tenant that is not registered: its events are kept and reach nobody. */
  readonly version: number;
  readonly isActive: boolean;
  readonly targets: readonly Target[];
}

const maxTenants = 20_000;
const maxTypesPerTenant = 1_000;

export class Routes {
  readonly #load: (tenants: readonly string[]) => Promise<ReadonlyMap<string, TenantRoutes>>;
  readonly #known = new Map<string, { routes: TenantRoutes; byType: Map<string, readonly Target[]> }>();

  constructor(load: (tenants: readonly string[]) => Promise<ReadonlyMap<string, TenantRoutes>>) {
    this.#load = load;
  }

  /** Reads what is missing, all in one statement. */
  async ensure(tenants: Iterable<string>): Promise<void> {
    const missing: string[] = [];
    for (const tenant of tenants) if (!this.#known.has(tenant)) missing.push(tenant);
    if (missing.length === 0) return;
    const loaded = await this.#load(missing);
    for (const [tenant, routes] of loaded) this.#known.set(tenant, { routes, byType: new Map() });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxTenants) break;
      if (!loaded.has(oldest)) this.#known.delete(oldest);
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
      if (entry.byType.size >= maxTypesPerTenant) entry.byType.clear();
      entry.byType.set(type, targets);
    }
    return targets;
  }

  forget(tenants: Iterable<string>): void {
    for (const tenant of tenants) this.#known.delete(tenant);
  }

  clear(): void {
    this.#known.clear();
  }
}
