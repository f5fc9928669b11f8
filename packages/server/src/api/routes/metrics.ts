// GET /metrics for Prometheus. It contains endpoint ids and volumes, so it needs the scope `admin` by default.
import type { Posthorn } from "posthorn";
import type { Route, RoutePermission } from "../router.ts";

export function metricsRoute(hooks: Posthorn, readers: RoutePermission): Route {
  return {
    method: "GET",
    path: "/metrics",
    permission: readers,
    handle: async () => ({
      status: 200,
      body: await hooks.metrics(),
      contentType: "text/plain; version=0.0.4; charset=utf-8",
    }),
  };
}
