// Navigation of the operator dashboard.
import { useSearchResults } from "./search-results.ts";
import { Shell } from "./shell.tsx";
import { defineTexts, useTexts } from "./texts.ts";

const texts = defineTexts({
  en: {
    overview: "Overview",
    firstRun: "Getting started",
    tail: "Live tail",
    happens: "Activity",
    events: "Events",
    deliveries: "Deliveries",
    retryQueue: "Retry queue",
    deadLetters: "Dead letters",
    replays: "Replays",
    who: "Configuration",
    tenants: "Tenants",
    endpoints: "Endpoints",
    catalogue: "Catalogue",
    running: "Operations",
    keys: "API keys",
    audit: "Audit log",
    system: "System",
    verify: "Verify signature",
  },
  de: {
    overview: "Überblick",
    firstRun: "Erste Schritte",
    tail: "Live-Ansicht",
    happens: "Aktivität",
    events: "Ereignisse",
    deliveries: "Zustellungen",
    retryQueue: "Geplante Versuche",
    deadLetters: "Dead Letters",
    replays: "Replays",
    who: "Konfiguration",
    tenants: "Mandanten",
    endpoints: "Endpunkte",
    catalogue: "Katalog",
    running: "Betrieb",
    keys: "API-Schlüssel",
    audit: "Audit-Log",
    system: "System",
    verify: "Signatur prüfen",
  },
});

export function OperatorShell() {
  const t = useTexts(texts);
  const groups = [
    {
      items: [
        { to: "/", icon: "overview", name: t.overview, key: "o" },
        { to: "/first-run", icon: "check", name: t.firstRun, key: "f" },
        { to: "/tail", icon: "tail", name: t.tail, key: "l" },
      ],
    },
    {
      title: t.happens,
      items: [
        { to: "/events", icon: "event", name: t.events, key: "e" },
        { to: "/deliveries", icon: "delivery", name: t.deliveries, key: "d" },
        { to: "/retry-queue", icon: "retry", name: t.retryQueue, key: "q" },
        { to: "/dead-letters", icon: "dead", name: t.deadLetters, key: "x" },
        { to: "/replays", icon: "replay", name: t.replays, key: "r" },
      ],
    },
    {
      title: t.who,
      items: [
        { to: "/tenants", icon: "tenant", name: t.tenants, key: "t" },
        { to: "/endpoints", icon: "endpoint", name: t.endpoints, key: "p" },
        { to: "/catalogue", icon: "catalogue", name: t.catalogue, key: "c" },
      ],
    },
    {
      title: t.running,
      items: [
        { to: "/keys", icon: "key", name: t.keys, key: "k" },
        { to: "/audit", icon: "audit", name: t.audit, key: "a" },
        { to: "/system", icon: "system", name: t.system, key: "s" },
        { to: "/verify", icon: "lock", name: t.verify, key: "v" },
      ],
    },
  ] as const;
  return <Shell name="Posthorn" groups={groups} useSearchResults={useSearchResults} />;
}
