// Liveness and readiness of the process.
import type { Posthorn } from "posthorn";
import { json } from "../reply.ts";
import type { Route } from "../router.ts";

export function healthRoutes(hooks: Posthorn, isDraining: () => boolean): Route[] {
  return [
    { method: "GET", path: "/healthz", permission: "public", handle: () => json(200, { status: "ok" }) },
    {
      method: "GET",
      path: "/readyz",
      permission: "public",
      handle: async () => {
        const { ready, reason } = isDraining()
          ? { ready: false, reason: "The server is shutting down." }
          : await hooks.health();
        return ready ? json(200, { status: "ready" }) : json(503, { status: "not ready", reason });
      },
    },
  ];
}
