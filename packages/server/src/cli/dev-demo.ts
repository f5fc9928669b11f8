// What `posthorn dev` sets up to show: a tenant, an endpoint that points at our own sink, and an event on its way.

import type { Posthorn } from "posthorn";
import type { Sink, SinkRequest } from "../api/sink.ts";

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
  patienceMs: number,
): Promise<FirstDelivery> {
  try {
    await hooks.tenants.upsert(DEMO_TENANT, { name: "Demo" });
    await pointEndpointAt(hooks, sinkUrl);
    return await publishAndWait(hooks, sink, patienceMs);
  } catch (error) {
    return { kind: "failed", message: (error as Error).message };
  }
}

/** The port may be another one than last time; the endpoint is known by its description. */
async function pointEndpointAt(hooks: Posthorn, url: string): Promise<void> {
  const { data } = await hooks.endpoints.list(DEMO_TENANT, { limit: 250 });
  const existing = data.find((endpoint) => endpoint.description === DESCRIPTION);
  if (!existing) {
    await hooks.endpoints.create(DEMO_TENANT, { url, events: ["*"], description: DESCRIPTION });
  } else if (existing.url !== url || !existing.isActive) {
    await hooks.endpoints.update(DEMO_TENANT, existing.id, { url, isActive: true });
  }
}

async function publishAndWait(hooks: Posthorn, sink: Sink, patienceMs: number): Promise<FirstDelivery> {
  const startedAt = performance.now();
  const type = "demo.started";
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
    patienceMs,
  );
  const data = { message: "Hello from Posthorn", started_at: new Date().toISOString() };
  ({ id: eventId } = await hooks.publish({ tenant: DEMO_TENANT, type, data }));
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
