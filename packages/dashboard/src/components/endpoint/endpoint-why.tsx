// The problem of an endpoint, short enough for a table column.
import type { Endpoint } from "@posthorn/client";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain, lastErrorKey } from "../../format/delivery-texts.ts";

const texts = defineTexts<Record<string, string>>({
  en: {
    manual: "disabled manually",
    gone: "HTTP 410 (Gone)",
    failures: "too many consecutive failures",
    no_success: "no success for days",
    asking: "consent requested",
    waiting: "consent pending",
    denied: "consent declined",
  },
  de: {
    manual: "manuell deaktiviert",
    gone: "HTTP 410 (Gone)",
    failures: "zu viele Fehler in Folge",
    no_success: "seit Tagen kein Erfolg",
    asking: "Zustimmung angefragt",
    waiting: "Zustimmung offen",
    denied: "Zustimmung abgelehnt",
  },
});

/** Returns null for a healthy endpoint. */
export function useEndpointWhy(): (endpoint: Endpoint) => string | null {
  const t = useTexts(texts);
  const language = useLanguage();
  return ({ disabled_reason, handshake, health: { consecutive_failures, last_error } }) => {
    if (disabled_reason !== null) return t[disabled_reason] ?? disabled_reason;
    if (handshake !== null && handshake.state !== "granted") return t[handshake.state] ?? null;
    if (consecutive_failures === 0 || last_error === null) return null;
    return explain(lastErrorKey(last_error), language).what;
  };
}
