// Where operators can go.
import { useFound } from "./found.ts";
import { Shell } from "./shell.tsx";
import { defineTexts, useTexts } from "./texts.ts";

const texts = defineTexts({
  en: {
    overview: "Overview",
    firstRun: "First steps",
    tail: "Live tail",
    happens: "What happens",
    events: "Events",
    deliveries: "Deliveries",
    retryQueue: "Retry queue",
    deadLetters: "Dead letters",
    replays: "Replays",
    who: "Who gets what",
    tenants: "Tenants",
    endpoints: "Endpoints",
    catalogue: "Catalogue",
    running: "Running it",
    keys: "Keys",
    audit: "Audit log",
    system: "System",
    verify: "Verify a request",
  },
  de: {
    overview: "Überblick",
    firstRun: "Erste Schritte",
    tail: "Live",
    happens: "Was geschieht",
    events: "Ereignisse",
    deliveries: "Zustellungen",
    retryQueue: "Neue Versuche",
    deadLetters: "Aufgegeben",
    replays: "Wiederholungen",
    who: "Wer was bekommt",
    tenants: "Mandanten",
    endpoints: "Endpunkte",
    catalogue: "Katalog",
    running: "Betrieb",
    keys: "Schlüssel",
    audit: "Protokoll",
    system: "System",
    verify: "Anfrage prüfen",
  },
});

export function OperatorShell() {
  const t = useTexts(texts);
  const groups = [
    {
      places: [
        { to: "/", icon: "overview", name: t.overview, key: "o" },
        { to: "/first-run", icon: "check", name: t.firstRun, key: "f" },
        { to: "/tail", icon: "tail", name: t.tail, key: "l" },
      ],
    },
    {
      title: t.happens,
      places: [
        { to: "/events", icon: "event", name: t.events, key: "e" },
        { to: "/deliveries", icon: "delivery", name: t.deliveries, key: "d" },
        { to: "/retry-queue", icon: "retry", name: t.retryQueue, key: "q" },
        { to: "/dead-letters", icon: "dead", name: t.deadLetters, key: "x" },
        { to: "/replays", icon: "replay", name: t.replays, key: "r" },
      ],
    },
    {
      title: t.who,
      places: [
        { to: "/tenants", icon: "tenant", name: t.tenants, key: "t" },
        { to: "/endpoints", icon: "endpoint", name: t.endpoints, key: "p" },
        { to: "/catalogue", icon: "catalogue", name: t.catalogue, key: "c" },
      ],
    },
    {
      title: t.running,
      places: [
        { to: "/keys", icon: "key", name: t.keys, key: "k" },
        { to: "/audit", icon: "audit", name: t.audit, key: "a" },
        { to: "/system", icon: "system", name: t.system, key: "s" },
        { to: "/verify", icon: "lock", name: t.verify, key: "v" },
      ],
    },
  ] as const;
  return <Shell name="Posthorn" groups={groups} useFound={useFound} />;
}
