// What Prometheus reads. Endpoint ids and how much is sent are nobody's business by default, so it takes the admin scope.
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
