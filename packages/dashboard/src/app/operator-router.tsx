// Pages and navigation of the operator dashboard.
import type { RouterHistory } from "@tanstack/react-router";
import { BASE_PATH } from "../api/client.ts";
import { createPageRouter, page } from "./pages.tsx";
import { useSearchResults } from "./search-results.ts";
import { Shell } from "./shell.tsx";
import { defineTexts } from "./texts.ts";

const t = defineTexts({
  activity: ["Activity", "Aktivität"],
  configuration: ["Configuration", "Konfiguration"],
  operations: ["Operations", "Betrieb"],
});

const CREATED = ["since", "created_after", "created_before"];
const DELIVERY_FILTERS = ["tenant", "endpoint", "type", "reason", ...CREATED];

const PAGES = {
  "/": page(() => import("../pages/overview.tsx"), "Overview"),
  "/first-run": page(() => import("../pages/first-run.tsx"), "FirstRunPage"),
  "/tail": page(() => import("../pages/deliveries/tail.tsx"), "Tail", ["tenant", "type", "state"]),
  "/events": page(() => import("../pages/events/events.tsx"), "Events", [
    "event_state",
    "tenant",
    "type",
    "subject",
    ...CREATED,
  ]),
  "/events/$id": page(() => import("../pages/events/event.tsx"), "EventPage"),
  "/deliveries": page(() => import("../pages/deliveries/deliveries.tsx"), "Deliveries", [
    "state",
    ...DELIVERY_FILTERS,
  ]),
  "/deliveries/$id": page(() => import("../pages/deliveries/delivery.tsx"), "DeliveryPage"),
  "/retry-queue": page(() => import("../pages/deliveries/deliveries.tsx"), "RetryQueue", [
    "tenant",
    "endpoint",
  ]),
  "/dead-letters": page(() => import("../pages/deliveries/deliveries.tsx"), "DeadLetters", DELIVERY_FILTERS),
  "/replays": page(() => import("../pages/replays/replays.tsx"), "Replays", ["new", ...DELIVERY_FILTERS]),
  "/replays/$id": page(() => import("../pages/replays/replay.tsx"), "ReplayPage"),
  "/tenants": page(() => import("../pages/tenants/tenants.tsx"), "Tenants"),
  "/tenants/$tenant": page(() => import("../pages/tenants/tenant.tsx"), "TenantPage"),
  "/endpoints": page(() => import("../pages/endpoints/endpoints.tsx"), "Endpoints", ["which", "tenant"]),
  "/tenants/$tenant/endpoints/$id": page(
    () => import("../pages/endpoints/endpoint.tsx"),
    "EndpointPage",
    ["tab", "secret_encoding"],
    "/endpoints",
  ),
  "/catalogue": page(() => import("../pages/catalogue/catalogue.tsx"), "Catalogue"),
  "/catalogue/$name": page(() => import("../pages/catalogue/event-type.tsx"), "EventTypePage", ["version"]),
  "/keys": page(() => import("../pages/keys.tsx"), "Keys", ["tenant"]),
  "/audit": page(() => import("../pages/audit.tsx"), "Audit", ["tenant", "action", ...CREATED]),
  "/system": page(() => import("../pages/system.tsx"), "SystemPage"),
  "/contract": page(() => import("../pages/contract.tsx"), "ContractPage", ["secret_encoding"]),
  "/verify": page(() => import("../pages/verify.tsx"), "Verify", ["scheme", "secret_encoding"]),
};

export function createOperatorRouter(history?: RouterHistory) {
  return createPageRouter(OperatorShell, BASE_PATH === "" ? "/" : BASE_PATH, PAGES, history);
}

function OperatorShell() {
  const groups = [
    {
      items: [
        { to: "/", icon: "overview", name: t.overview, key: "o" },
        { to: "/first-run", icon: "check", name: t.gettingStarted, key: "f" },
        { to: "/tail", icon: "tail", name: t.liveTail, key: "l" },
      ],
    },
    {
      title: t.activity,
      items: [
        { to: "/events", icon: "event", name: t.events, key: "e" },
        { to: "/deliveries", icon: "delivery", name: t.deliveries, key: "d" },
        { to: "/retry-queue", icon: "retry", name: t.retryQueue, key: "q" },
        { to: "/dead-letters", icon: "dead", name: t.deadLetters, key: "x" },
        { to: "/replays", icon: "replay", name: t.replays, key: "r" },
      ],
    },
    {
      title: t.configuration,
      items: [
        { to: "/tenants", icon: "tenant", name: t.tenants, key: "t" },
        { to: "/endpoints", icon: "endpoint", name: t.endpoints, key: "p" },
        { to: "/catalogue", icon: "catalogue", name: t.catalogue, key: "c" },
      ],
    },
    {
      title: t.operations,
      items: [
        { to: "/keys", icon: "key", name: t.apiKeys, key: "k" },
        { to: "/audit", icon: "audit", name: t.auditLog, key: "a" },
        { to: "/system", icon: "system", name: t.system, key: "s" },
        { to: "/contract", icon: "info", name: t.howDeliveriesWork, key: "h" },
        { to: "/verify", icon: "lock", name: t.verifySignature, key: "v" },
      ],
    },
  ] as const;
  return <Shell name="Posthorn" hasMark groups={groups} useSearchResults={useSearchResults} />;
}
