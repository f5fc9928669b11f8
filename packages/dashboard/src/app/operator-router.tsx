// Routes of the operator dashboard. Pages are loaded on demand.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
} from "@tanstack/react-router";
import { BASE_PATH } from "../api/client.ts";
import { readFilters } from "./filters.ts";
import { OperatorShell } from "./operator-shell.tsx";
import { ROUTER_OPTIONS } from "./router-options.tsx";

const root = createRootRoute({ component: OperatorShell });

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("../pages/overview.tsx"), "Overview"),
});
const firstRun = createRoute({
  getParentRoute: () => root,
  path: "/first-run",
  component: lazyRouteComponent(() => import("../pages/first-run.tsx"), "FirstRunPage"),
});
const tail = createRoute({
  getParentRoute: () => root,
  path: "/tail",
  validateSearch: readFilters(["tenant", "type", "state"]),
  component: lazyRouteComponent(() => import("../pages/deliveries/tail.tsx"), "Tail"),
});
const events = createRoute({
  getParentRoute: () => root,
  path: "/events",
  validateSearch: readFilters(["tenant", "type", "subject", "created_after", "created_before"]),
  component: lazyRouteComponent(() => import("../pages/events/events.tsx"), "Events"),
});
const event = createRoute({
  getParentRoute: () => root,
  path: "/events/$id",
  component: lazyRouteComponent(() => import("../pages/events/event.tsx"), "EventPage"),
});
const deliveries = createRoute({
  getParentRoute: () => root,
  path: "/deliveries",
  validateSearch: readFilters([
    "state",
    "tenant",
    "endpoint",
    "type",
    "reason",
    "created_after",
    "created_before",
  ]),
  component: lazyRouteComponent(() => import("../pages/deliveries/deliveries.tsx"), "Deliveries"),
});
const delivery = createRoute({
  getParentRoute: () => root,
  path: "/deliveries/$id",
  component: lazyRouteComponent(() => import("../pages/deliveries/delivery.tsx"), "DeliveryPage"),
});

const retryQueue = createRoute({
  getParentRoute: () => root,
  path: "/retry-queue",
  validateSearch: readFilters(["tenant", "endpoint"]),
  component: lazyRouteComponent(() => import("../pages/deliveries/retry-queue.tsx"), "RetryQueue"),
});
const deadLetters = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters",
  validateSearch: readFilters(["tenant", "endpoint", "type", "reason", "created_after", "created_before"]),
  component: lazyRouteComponent(() => import("../pages/deliveries/dead-letters.tsx"), "DeadLetters"),
});
const replays = createRoute({
  getParentRoute: () => root,
  path: "/replays",
  validateSearch: readFilters([
    "new",
    "tenant",
    "endpoint",
    "type",
    "reason",
    "created_after",
    "created_before",
  ]),
  component: lazyRouteComponent(() => import("../pages/replays/replays.tsx"), "Replays"),
});
const replay = createRoute({
  getParentRoute: () => root,
  path: "/replays/$id",
  component: lazyRouteComponent(() => import("../pages/replays/replay.tsx"), "ReplayPage"),
});

const tenants = createRoute({
  getParentRoute: () => root,
  path: "/tenants",
  component: lazyRouteComponent(() => import("../pages/tenants/tenants.tsx"), "Tenants"),
});
const tenant = createRoute({
  getParentRoute: () => root,
  path: "/tenants/$tenant",
  component: lazyRouteComponent(() => import("../pages/tenants/tenant.tsx"), "TenantPage"),
});
const endpoints = createRoute({
  getParentRoute: () => root,
  path: "/endpoints",
  validateSearch: readFilters(["which", "tenant"]),
  component: lazyRouteComponent(() => import("../pages/endpoints/endpoints.tsx"), "Endpoints"),
});
const endpoint = createRoute({
  getParentRoute: () => root,
  path: "/tenants/$tenant/endpoints/$id",
  validateSearch: readFilters(["tab"]),
  component: lazyRouteComponent(() => import("../pages/endpoints/endpoint.tsx"), "EndpointPage"),
});
const catalogue = createRoute({
  getParentRoute: () => root,
  path: "/catalogue",
  component: lazyRouteComponent(() => import("../pages/catalogue/catalogue.tsx"), "Catalogue"),
});
const eventType = createRoute({
  getParentRoute: () => root,
  path: "/catalogue/$name",
  validateSearch: readFilters(["version"]),
  component: lazyRouteComponent(() => import("../pages/catalogue/event-type.tsx"), "EventTypePage"),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: "/keys",
  validateSearch: readFilters(["tenant"]),
  component: lazyRouteComponent(() => import("../pages/keys.tsx"), "Keys"),
});
const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: readFilters(["tenant", "action", "created_after", "created_before"]),
  component: lazyRouteComponent(() => import("../pages/audit.tsx"), "Audit"),
});
const system = createRoute({
  getParentRoute: () => root,
  path: "/system",
  component: lazyRouteComponent(() => import("../pages/system.tsx"), "SystemPage"),
});

const verify = createRoute({
  getParentRoute: () => root,
  path: "/verify",
  validateSearch: readFilters(["scheme"]),
  component: lazyRouteComponent(() => import("../pages/verify.tsx"), "Verify"),
});

const routeTree = root.addChildren([
  overview,
  firstRun,
  tail,
  events,
  event,
  deliveries,
  delivery,
  retryQueue,
  deadLetters,
  replays,
  replay,
  tenants,
  tenant,
  endpoints,
  endpoint,
  catalogue,
  eventType,
  keys,
  audit,
  system,
  verify,
]);

/** The history is the browser's by default. */
export function createOperatorRouter(history?: RouterHistory) {
  return createRouter({
    routeTree,
    basepath: BASE_PATH === "" ? "/" : BASE_PATH,
    ...ROUTER_OPTIONS,
    ...(history && { history }),
  });
}
