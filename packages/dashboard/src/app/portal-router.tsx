// Routes of the customer portal.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
} from "@tanstack/react-router";
import { BASE_PATH } from "../api/client.ts";
import { readFilters } from "./filters.ts";
import { PortalShell } from "./portal-shell.tsx";
import { ROUTER_OPTIONS } from "./router-options.tsx";

const root = createRootRoute({ component: PortalShell });

const endpoints = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("../pages/portal/endpoints.tsx"), "PortalEndpoints"),
});

const logs = createRoute({
  getParentRoute: () => root,
  path: "/logs",
  validateSearch: readFilters(["state", "endpoint", "type", "reason", "created_after", "created_before"]),
  component: lazyRouteComponent(() => import("../pages/portal/logs.tsx"), "PortalLogs"),
});
const delivery = createRoute({
  getParentRoute: () => root,
  path: "/deliveries/$id",
  component: lazyRouteComponent(() => import("../pages/portal/delivery.tsx"), "PortalDelivery"),
});
const replays = createRoute({
  getParentRoute: () => root,
  path: "/replays",
  component: lazyRouteComponent(() => import("../pages/portal/replays.tsx"), "PortalReplays"),
});
const add = createRoute({
  getParentRoute: () => root,
  path: "/add",
  component: lazyRouteComponent(() => import("../pages/portal/add-endpoint.tsx"), "AddEndpoint"),
});

const endpoint = createRoute({
  getParentRoute: () => root,
  path: "/endpoints/$id",
  validateSearch: readFilters(["tab"]),
  component: lazyRouteComponent(() => import("../pages/portal/endpoint.tsx"), "PortalEndpoint"),
});
const catalogue = createRoute({
  getParentRoute: () => root,
  path: "/catalogue",
  component: lazyRouteComponent(() => import("../pages/portal/catalogue.tsx"), "PortalCatalogue"),
});
const eventType = createRoute({
  getParentRoute: () => root,
  path: "/catalogue/$name",
  component: lazyRouteComponent(() => import("../pages/portal/catalogue.tsx"), "PortalEventType"),
});
const contract = createRoute({
  getParentRoute: () => root,
  path: "/contract",
  component: lazyRouteComponent(() => import("../pages/portal/contract.tsx"), "DeliveryContract"),
});
const verify = createRoute({
  getParentRoute: () => root,
  path: "/verify",
  validateSearch: readFilters(["scheme"]),
  component: lazyRouteComponent(() => import("../pages/verify.tsx"), "Verify"),
});

const routeTree = root.addChildren([
  endpoints,
  add,
  logs,
  delivery,
  replays,
  endpoint,
  catalogue,
  eventType,
  contract,
  verify,
]);

/** The history is the browser's by default. */
export function createPortalRouter(history?: RouterHistory) {
  return createRouter({
    routeTree,
    basepath: `${BASE_PATH}/portal`,
    ...ROUTER_OPTIONS,
    ...(history && { history }),
  });
}
