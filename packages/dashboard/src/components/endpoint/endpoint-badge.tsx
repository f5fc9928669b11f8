// The state of an endpoint; its words differ from delivery states.
import type { Endpoint } from "@posthorn/client";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Badge } from "../ui/badge.tsx";

const texts = defineTexts({
  en: {
    active: "active",
    degraded: "degraded",
    paused: "circuit open",
    disabled: "disabled",
    asking: "consent requested",
    waiting: "consent pending",
    denied: "consent declined",
    reasons: {
      manual: "disabled manually",
      gone: "the receiver returned HTTP 410",
      failures: "too many consecutive failures",
      no_success: "no success for days",
    } as Record<string, string>,
  },
  de: {
    active: "aktiv",
    degraded: "beeinträchtigt",
    paused: "Circuit offen",
    disabled: "deaktiviert",
    asking: "Zustimmung angefragt",
    waiting: "Zustimmung offen",
    denied: "Zustimmung abgelehnt",
    reasons: {
      manual: "manuell deaktiviert",
      gone: "der Empfänger hat HTTP 410 zurückgegeben",
      failures: "zu viele Fehler in Folge",
      no_success: "seit Tagen kein Erfolg",
    } as Record<string, string>,
  },
});

export function EndpointBadge({
  endpoint,
}: {
  readonly endpoint: Pick<Endpoint, "is_active" | "disabled_reason" | "handshake" | "circuit" | "health">;
}) {
  const t = useTexts(texts);
  if (!endpoint.is_active) {
    const reason = t.reasons[endpoint.disabled_reason ?? ""];
    return (
      <Badge tone="bad" icon="pause" title={reason}>
        {t.disabled}
      </Badge>
    );
  }
  const { handshake } = endpoint;
  if (handshake !== null && handshake.state !== "granted")
    return (
      <Badge
        tone={handshake.state === "denied" ? "bad" : "warn"}
        icon={handshake.state === "denied" ? "lock" : "clock"}
        title={handshake.detail ?? undefined}
      >
        {t[handshake.state]}
      </Badge>
    );
  if (endpoint.circuit !== "closed")
    return (
      <Badge tone="warn" icon="warning" title={endpoint.health.last_error ?? undefined}>
        {t.paused}
      </Badge>
    );
  if (endpoint.health.consecutive_failures > 0)
    return (
      <Badge tone="warn" icon="warning" title={endpoint.health.last_error ?? undefined}>
        {t.degraded}
      </Badge>
    );
  return (
    <Badge tone="ok" icon="check">
      {t.active}
    </Badge>
  );
}
