// Navigation of the customer portal.
import { useEffect } from "react";
import { postToParent } from "./frame.ts";
import { portalSettings } from "./portal-settings.ts";
import { Shell } from "./shell.tsx";
import { defineTexts, useTexts } from "./texts.ts";

const texts = defineTexts({
  en: {
    portal: "Webhooks",
    endpoints: "Endpoints",
    logs: "Logs",
    catalogue: "Event types",
    replays: "Replays",
    contract: "How deliveries work",
    verify: "Verify signature",
  },
  de: {
    portal: "Webhooks",
    endpoints: "Endpunkte",
    logs: "Logs",
    catalogue: "Ereignistypen",
    replays: "Replays",
    contract: "So funktionieren Zustellungen",
    verify: "Signatur prüfen",
  },
});

export function PortalShell() {
  const t = useTexts(texts);
  useEffect(() => postToParent({ type: "posthorn:session-started" }), []);
  const items = [
    { to: "/", icon: "endpoint", name: t.endpoints, key: "p" },
    { to: "/logs", icon: "delivery", name: t.logs, key: "l" },
    { to: "/catalogue", icon: "catalogue", name: t.catalogue, key: "c" },
    { to: "/replays", icon: "replay", name: t.replays, key: "r" },
    { to: "/contract", icon: "info", name: t.contract, key: "h" },
    { to: "/verify", icon: "lock", name: t.verify, key: "v" },
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
