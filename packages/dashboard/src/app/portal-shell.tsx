// Where customers can go, under the name and colours of whose portal it is.
import { useEffect } from "react";
import { tellParent } from "./frame.ts";
import { portalSettings } from "./portal-settings.ts";
import { Shell } from "./shell.tsx";
import { defineTexts, useTexts } from "./texts.ts";

const texts = defineTexts({
  en: {
    portal: "Webhooks",
    endpoints: "Endpoints",
    logs: "Logs",
    catalogue: "Events",
    replays: "Replay",
    contract: "How deliveries work",
    verify: "Verify a request",
  },
  de: {
    portal: "Webhooks",
    endpoints: "Endpunkte",
    logs: "Verlauf",
    catalogue: "Ereignisse",
    replays: "Wiederholen",
    contract: "Wie zugestellt wird",
    verify: "Anfrage prüfen",
  },
});

export function PortalShell() {
  const t = useTexts(texts);
  useEffect(() => tellParent({ type: "posthorn:session-started" }), []);
  const places = [
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
      groups={[{ places }]}
      useFound={(text) =>
        /^dlv_[\w-]+$/.test(text) ? [{ to: `/deliveries/${text}`, icon: "delivery", name: text }] : []
      }
    />
  );
}
