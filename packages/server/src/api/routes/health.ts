// Liveness, readiness and metrics of the process.
import { type Posthorn, PosthornError } from "posthorn";
import { METRICS } from "../../processes/messages.ts";
import type { ProcessGroup } from "../../processes/process-group.ts";
import { json } from "../reply.ts";
import { publicRoute, type Route, type RoutePermission } from "../router.ts";

export function healthRoutes(hooks: Posthorn, isDraining: () => boolean): Route[] {
  return [
    publicRoute("GET", "/healthz", () => json(200, { status: "ok" })),
    publicRoute("GET", "/readyz", async () => {
      const { ready, reason } = isDraining()
        ? { ready: false, reason: "The server is shutting down." }
        : await hooks.health();
      return ready ? json(200, { status: "ready" }) : json(503, { status: "not ready", reason });
    }),
  ];
}

/**
 * For Prometheus: one page for all processes that share the port. The metrics contain endpoint ids and volumes, so they
 * need the scope `admin` by default.
 */
export function metricsRoute(hooks: Posthorn, readers: RoutePermission, group?: ProcessGroup): Route {
  group?.respond(METRICS, () => hooks.metrics({ installation: false }));
  return {
    method: "GET",
    path: "/metrics",
    permission: readers,
    handle: async () => {
      const own = await hooks.metrics();
      return {
        status: 200,
        body: group === undefined ? own : await sumOf(group, own),
        contentType: "text/plain; version=0.0.4; charset=utf-8",
      };
    },
  };
}

/** The counters of one process alone would look like a restart to Prometheus, so that no page is better. */
async function sumOf(group: ProcessGroup, own: string): Promise<string> {
  try {
    return await group.metrics(own);
  } catch (error) {
    throw new PosthornError(
      "overloaded",
      `The metrics of all processes are not available. ${(error as Error).message}`,
    );
  }
}
