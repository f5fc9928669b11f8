// What `posthorn dev` sets up to show: a tenant, an endpoint that points at our own sink, and an event on its way.
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

/** Never throws: without the demo the server is as good as with it. */
export async function deliverFirstEvent(
  hooks: Posthorn,
  sink: Sink,
  sinkUrl: string,
  timeoutMs: number,
): Promise<FirstDelivery> {
  try {
    await hooks.tenants.upsert(DEMO_TENANT, { name: "Demo", restore: true });
    const endpoint = await pointEndpointAt(hooks, sinkUrl);
    return await sendAndWait(hooks, sink, endpoint, timeoutMs);
  } catch (error) {
    return { kind: "failed", message: (error as Error).message };
  }
}

/**
 * The port may be another one than last time, so the endpoint of a server that is gone is taken over. One whose server
 * still runs, on the same database and another port, is that server's: it is left alone, and we have our own.
 */
async function pointEndpointAt(hooks: Posthorn, url: string): Promise<string> {
  const { data } = await hooks.endpoints.list(DEMO_TENANT, { limit: 250 });
  const ofDemos = data.filter((endpoint) => endpoint.description === DESCRIPTION);
  const others = ofDemos.filter((endpoint) => endpoint.url !== url && isSinkUrl(endpoint.url));
  const areAlive = await Promise.all(others.map((endpoint) => isListening(endpoint.url)));
  const leftOver = others.filter((_endpoint, index) => !areAlive[index]);
  const ours = ofDemos.find((endpoint) => endpoint.url === url) ?? leftOver.shift();
  for (const { id } of leftOver) await hooks.endpoints.delete(DEMO_TENANT, id);
  if (!ours) {
    const input = { url, events: ["*"], description: DESCRIPTION };
    return (await hooks.endpoints.create(DEMO_TENANT, input)).endpoint.id;
  }
  if (ours.url !== url || !ours.isActive)
    await hooks.endpoints.update(DEMO_TENANT, ours.id, { url, isActive: true });
  return ours.id;
}

/** Not when somebody pointed the demo elsewhere. */
function isSinkUrl(url: string): boolean {
  return new URL(url).pathname === `/sink/${SINK_ID}`;
}

/** Looks on this machine only, where the other demos are; what was pointed elsewhere is not ours to knock at. */
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

/** A test event: it passes whatever the catalogue has. */
async function sendAndWait(
  hooks: Posthorn,
  sink: Sink,
  endpoint: string,
  timeoutMs: number,
): Promise<FirstDelivery> {
  const startedAt = performance.now();
  const type = "webhook.test";
  // Listening before publishing: the delivery may be quicker than the answer.
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

/** Every format and header prefix carries the id; the standard header is looked at first. */
function eventIdOf({ headers, body }: SinkRequest): string | null {
  return (
    headers["webhook-id"] ?? headers["x-webhook-id"] ?? /"id":"(evt_[0-9a-f-]{36})"/.exec(body)?.[1] ?? null
  );
}
