// Pages and navigation of the customer portal.
import type { RouterHistory } from "@tanstack/react-router";
import { useEffect } from "react";
import { BASE_PATH } from "../api/client.ts";
import { postToParent } from "./frame.ts";
import { createPageRouter, page } from "./pages.tsx";
import { portalSettings } from "./portal-settings.ts";
import { Shell } from "./shell.tsx";
import { defineTexts } from "./texts.ts";

const t = defineTexts({
  portal: "Webhooks",
});

const PAGES = {
  "/": page(() => import("../pages/portal/endpoints.tsx"), "PortalEndpoints"),
  "/logs": page(() => import("../pages/deliveries/deliveries.tsx"), "PortalLogs", [
    "state",
    "endpoint",
    "type",
    "reason",
    "since",
    "created_after",
    "created_before",
  ]),
  "/deliveries/$id": page(() => import("../pages/deliveries/delivery.tsx"), "DeliveryPage", [], "/logs"),
  "/replays": page(() => import("../pages/replays/replays.tsx"), "PortalReplays"),
  "/add": page(() => import("../pages/portal/add-endpoint.tsx"), "AddEndpoint", [], "/"),
  "/endpoints/$id": page(
    () => import("../pages/endpoints/endpoint.tsx"),
    "EndpointPage",
    ["tab", "secret_encoding"],
    "/",
  ),
  "/catalogue": page(() => import("../pages/portal/catalogue.tsx"), "PortalCatalogue"),
  "/catalogue/$name": page(() => import("../pages/portal/catalogue.tsx"), "PortalEventType"),
  "/contract": page(() => import("../pages/contract.tsx"), "ContractPage", ["secret_encoding"]),
  "/verify": page(() => import("../pages/verify.tsx"), "Verify", ["scheme", "secret_encoding"]),
};

export function createPortalRouter(history?: RouterHistory) {
  return createPageRouter(PortalShell, `${BASE_PATH}/portal`, PAGES, history);
}

function PortalShell() {
  useEffect(() => postToParent({ type: "posthorn:session-started" }), []);
  const items = [
    { to: "/", icon: "endpoint", name: t.endpoints, key: "p" },
    { to: "/logs", icon: "delivery", name: t.logs, key: "l" },
    { to: "/catalogue", icon: "catalogue", name: t.eventTypes, key: "c" },
    { to: "/replays", icon: "replay", name: t.replays, key: "r" },
    { to: "/contract", icon: "info", name: t.howDeliveriesWork, key: "h" },
    { to: "/verify", icon: "lock", name: t.verifySignature, key: "v" },
  ] as const;
  return (
    <Shell
      name={portalSettings.name ?? t.portal}
      logo={portalSettings.logoUrl}
      groups={[{ items }]}
      useSearchResults={(text) =>
        /^dlv_[\w-]+$/.test(text) ? [{ to: `/deliveries/${text}`, icon: "delivery", name: text }] : []
      }
    />
  );
}
