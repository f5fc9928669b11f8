// The demo of `posthorn dev`: a tenant, an endpoint that points at the built-in sink, and a first delivery.
import { connect } from "node:net";
import type { Posthorn } from "posthorn";
import type { Sink, SinkRequest } from "../../api/sink.ts";

export const DEMO_TENANT = "demo";
export const SINK_ID = "demo";
const DESCRIPTION = "The built-in sink of posthorn dev";

export type FirstDelivery =
  | {
      readonly kind: "delivered";
      readonly eventId: string;
      readonly type: string;
      readonly request: SinkRequest;
      readonly tookMs: number;
    }
  | { readonly kind: "waiting"; readonly eventId: string }
  | { readonly kind: "failed"; readonly message: string };

/** Never throws, because the server works without the demo. */
export async function deliverFirstEvent(
  hooks: Posthorn,
  sink: Sink,
  sinkUrl: string,
  timeoutMs: number,
): Promise<FirstDelivery> {
  try {
    const resources = hooks.as("posthorn dev");
    await resources.tenants.upsert(DEMO_TENANT, { name: "Demo", restore: true });
    const endpoint = await pointEndpointAt(resources, sinkUrl);
    return await sendAndWait(hooks, sink, endpoint, timeoutMs);
  } catch (error) {
    return { kind: "failed", message: (error as Error).message };
  }
}

/**
 * Returns the endpoint for this server's sink. The port may have changed, so an endpoint of a server that no longer runs
 * is reused. An endpoint of another running server on the same database is left alone.
 */
async function pointEndpointAt({ endpoints }: Pick<Posthorn, "endpoints">, url: string): Promise<string> {
  const { data } = await endpoints.list(DEMO_TENANT, { limit: 250 });
  const demoEndpoints = data.filter((endpoint) => endpoint.description === DESCRIPTION);
  const others = demoEndpoints.filter((endpoint) => endpoint.url !== url && isSinkUrl(endpoint.url));
  const areAlive = await Promise.all(others.map((endpoint) => isListening(endpoint.url)));
  const unused = others.filter((_endpoint, index) => !areAlive[index]);
  const ours = demoEndpoints.find((endpoint) => endpoint.url === url) ?? unused.shift();
  for (const { id } of unused) await endpoints.delete(DEMO_TENANT, id);
  if (!ours) {
    const input = { url, events: ["*"], description: DESCRIPTION };
    return (await endpoints.create(DEMO_TENANT, input)).endpoint.id;
  }
  if (ours.url !== url || !ours.isActive)
    await endpoints.update(DEMO_TENANT, ours.id, { url, isActive: true });
  return ours.id;
}

/** False if a user has changed the URL of the demo endpoint. */
function isSinkUrl(url: string): boolean {
  return new URL(url).pathname === `/sink/${SINK_ID}`;
}

/** Connects only to loopback addresses; other hosts count as running. */
function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  if (!LOOPBACK_HOSTS.has(hostname)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const socket = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ""), () => settle(true));
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PROBE_MS, () => settle(false));
    socket.once("error", () => settle(false));
  });
}

const LOOPBACK_HOSTS = new Set(["127.0.0.1", "[::1]", "localhost"]);
const PROBE_MS = 1_000;

/** Sends a test event, which the catalogue always accepts. */
async function sendAndWait(
  hooks: Posthorn,
  sink: Sink,
  endpoint: string,
  timeoutMs: number,
): Promise<FirstDelivery> {
  const startedAt = performance.now();
  const type = "webhook.test";
  // Starts listening before publishing, because the delivery may arrive before the result.
  const seen = new Map<string, SinkRequest>();
  let eventId: string | null = null;
  const arrived = sink.next(
    SINK_ID,
    (request) => {
      const id = eventIdOf(request);
      if (id !== null) seen.set(id, request);
      return id !== null && id === eventId;
    },
    timeoutMs,
  );
  ({ eventId } = await hooks.endpoints.test(DEMO_TENANT, endpoint));
  const request = seen.get(eventId) ?? (await arrived);
  if (!request) return { kind: "waiting", eventId };
  return { kind: "delivered", eventId, type, request, tookMs: performance.now() - startedAt };
}

/** Finds the event id in any format and with any header prefix. */
function eventIdOf({ headers, body }: SinkRequest): string | null {
  return (
    headers["webhook-id"] ?? headers["x-webhook-id"] ?? /"id":"(evt_[0-9a-f-]{36})"/.exec(body)?.[1] ?? null
  );
}
