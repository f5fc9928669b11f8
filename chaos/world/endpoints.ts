// The endpoints of a run: two per tenant, one with a slow receiver, and two canaries that no delivery may reach.
import { parseId } from "@posthorn/wire";
import type { EndpointFacts } from "../evidence/evidence.ts";

/** Host names and the forbidden addresses they resolve to in the processes under test. */
export const canaryNames = { "canary.chaos.test": "127.0.0.9" };
export const canaryTenant = "canary";

export interface EndpointsOptions {
  readonly apiUrl: string;
  readonly adminKey: string;
  /** Ports by receiver name. */
  readonly ports: Readonly<Record<string, number>>;
  readonly canaryPort: number | null;
  readonly query: (sql: string) => Promise<unknown>;
}

interface EndpointSpec {
  readonly tenant: string;
  readonly events: readonly string[];
  readonly maxInFlight: number;
  readonly isOrdered: boolean;
}

const specs: Readonly<Record<string, EndpointSpec>> = {
  r1: { tenant: "north", events: ["*"], maxInFlight: 5, isOrdered: false },
  r2: { tenant: "north", events: ["order.*"], maxInFlight: 5, isOrdered: true },
  r3: { tenant: "east", events: ["*"], maxInFlight: 3, isOrdered: false },
  r4: { tenant: "east", events: ["order.*"], maxInFlight: 3, isOrdered: true },
  r5: { tenant: "south", events: ["*"], maxInFlight: 5, isOrdered: true },
  r6: { tenant: "south", events: ["order.paid"], maxInFlight: 2, isOrdered: false },
  r7: { tenant: "west", events: ["*"], maxInFlight: 8, isOrdered: false },
  r8: { tenant: "west", events: ["order.paid"], maxInFlight: 4, isOrdered: true },
  r9: { tenant: "center", events: ["*"], maxInFlight: 20, isOrdered: false },
};

/**
 * While the others are faulty, its receiver is only slow. Its lane is never paused, so its owner sends new deliveries at
 * once, and a kill interrupts some that have no queue row.
 */
export const slowReceiver = "r9";

export const receiverNames = Object.keys(specs);
export const tenants = [...new Set(Object.values(specs).map(({ tenant }) => tenant))];

export async function createEndpoints(
  options: EndpointsOptions,
): Promise<{ endpoints: EndpointFacts[]; secrets: Record<string, string> }> {
  const endpoints: EndpointFacts[] = [];
  const secrets: Record<string, string> = {};
  for (const [name, { tenant, events, maxInFlight, isOrdered }] of Object.entries(specs)) {
    const { id, secret } = await createEndpoint(options, tenant, {
      url: `http://127.0.0.1:${options.ports[name]}/${name}`,
      events,
      max_in_flight: maxInFlight,
      ordering: isOrdered ? "fifo" : "none",
    });
    endpoints.push({ name, id, tenant, events, maxInFlight, isOrdered });
    secrets[name] = secret;
  }
  if (options.canaryPort !== null) await createCanaries(options, options.canaryPort);
  return { endpoints, secrets };
}

/**
 * Creates one canary behind a name that resolves to a forbidden address, and one with the address itself, directly in
 * the database: they would be refused.
 */
async function createCanaries(options: EndpointsOptions, port: number): Promise<void> {
  const allowed = `http://127.0.0.1:${options.ports.r1}/canary`;
  for (const host of Object.entries(canaryNames).flat()) {
    const { id } = await createEndpoint(options, canaryTenant, { url: allowed, events: ["*"] });
    await options.query(
      `update posthorn.endpoints set url = 'http://${host}:${port}/', version = version + 1 where id = '${parseId("ep", id)}'`,
    );
  }
  await options.query(
    `update posthorn.tenants set routing_version = routing_version + 1 where id = '${canaryTenant}'`,
  );
}

async function createEndpoint(
  { apiUrl, adminKey }: EndpointsOptions,
  tenant: string,
  endpoint: Record<string, unknown>,
): Promise<{ id: string; secret: string }> {
  const call = async (method: string, path: string, body: unknown) => {
    const response = await fetch(`${apiUrl}/api/v1/tenants/${tenant}${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${response.url} failed: ${await response.text()}`);
    return await response.json();
  };
  await call("PUT", "", {});
  return await call("POST", "/endpoints", endpoint);
}
