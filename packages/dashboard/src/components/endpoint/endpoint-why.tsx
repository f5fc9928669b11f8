// Why nothing, or not everything, gets to an endpoint, in as few words as a column has room for.
import type { Endpoint } from "@posthorn/client";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain, explanations, lastErrorKey } from "../../format/delivery-words.ts";

const texts = defineTexts<Record<string, string>>({
  en: {
    manual: "switched off by hand",
    gone: "it answered 410",
    failures: "too many failures in a row",
    no_success: "no success for days",
    asking: "it is asked whether it wants webhooks",
    waiting: "it has not agreed to webhooks yet",
    denied: "it does not want webhooks",
  },
  de: {
    manual: "von Hand abgeschaltet",
    gone: "er antwortete 410",
    failures: "zu viele Fehler in Folge",
    no_success: "seit Tagen kein Erfolg",
    asking: "er wird gefragt, ob er Webhooks will",
    waiting: "er hat Webhooks noch nicht zugestimmt",
    denied: "er will keine Webhooks",
  },
});

/** Null: nothing is wrong. */
export function useEndpointWhy(): (endpoint: Endpoint) => string | null {
  const t = useTexts(texts);
  const words = useTexts(explanations);
  const language = useLanguage();
  return ({ disabled_reason, handshake, health: { consecutive_failures, last_error } }) => {
    if (disabled_reason !== null) return t[disabled_reason] ?? disabled_reason;
    if (handshake !== null && handshake.state !== "granted") return t[handshake.state] ?? null;
    if (consecutive_failures === 0 || last_error === null) return null;
    const { what } = explain(words, lastErrorKey(last_error), language);
    return last_error.startsWith("HTTP") ? `${what} (${last_error})` : what;
  };
}
