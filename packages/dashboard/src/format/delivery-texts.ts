// Texts for delivery states, outcomes and dead reasons, with what to do about them.
import type { Attempt, Delivery, DeliveryDetail } from "@posthorn/client";
import { defineTexts, type Language } from "../app/texts.ts";
import type { Tone } from "../components/ui/badge.tsx";
import type { IconName } from "../components/ui/icons.tsx";

export type State = Delivery["state"];

export const STATES: Readonly<Record<State, { readonly tone: Tone; readonly icon: IconName }>> = {
  pending: { tone: "calm", icon: "clock" },
  in_flight: { tone: "calm", icon: "send" },
  success: { tone: "ok", icon: "check" },
  failed: { tone: "warn", icon: "retry" },
  dead: { tone: "bad", icon: "dead" },
};

export interface Explanation {
  readonly what: string;
  readonly remedy: string;
}

export const stateTexts = defineTexts<Record<State, string>>({
  en: {
    pending: "pending",
    in_flight: "in flight",
    success: "delivered",
    failed: "will retry",
    dead: "dead",
  },
  de: {
    pending: "ausstehend",
    in_flight: "wird gesendet",
    success: "zugestellt",
    failed: "neuer Versuch",
    dead: "fehlgeschlagen",
  },
});

export const triggerTexts = defineTexts<Record<Attempt["trigger"], string>>({
  en: {
    event: "new event",
    retry: "automatic retry",
    manual: "manual retry",
    replay: "replay",
    test: "test event",
  },
  de: {
    event: "neues Ereignis",
    retry: "automatischer Versuch",
    manual: "manueller Versuch",
    replay: "Replay",
    test: "Testereignis",
  },
});

/** Dead reasons, short enough for a table column. */
export const reasonTexts = defineTexts<Record<string, string>>({
  en: {
    attempts_exhausted: "attempts exhausted",
    too_old: "too old",
    rejected: "rejected (4xx)",
    redirect: "redirect",
    gone: "gone (410)",
    blocked_address: "blocked address",
    invalid_request: "invalid request",
    lease_ended: "subscription expired",
    endpoint_deleted: "endpoint deleted",
    discarded: "discarded",
    cancelled: "cancelled",
  },
  de: {
    attempts_exhausted: "alle Versuche fehlgeschlagen",
    too_old: "zu alt",
    rejected: "abgelehnt (4xx)",
    redirect: "Weiterleitung",
    gone: "nicht mehr vorhanden (410)",
    blocked_address: "gesperrte Adresse",
    invalid_request: "ungültige Anfrage",
    lease_ended: "Abonnement abgelaufen",
    endpoint_deleted: "Endpunkt gelöscht",
    discarded: "verworfen",
    cancelled: "abgebrochen",
  },
});

const unknownOutcome: Readonly<Record<Language, Explanation>> = {
  en: {
    what: "Unknown outcome",
    remedy: "See the deliveries reference for this version of the server.",
  },
  de: {
    what: "Unbekanntes Ergebnis",
    remedy: "Siehe die Referenz zu Zustellungen für diese Version des Servers.",
  },
};

/** Explanations by an attempt's `error`, a delivery's `dead_reason`, or a status code or class. */
export const explanations = defineTexts<Record<string, Explanation>>({
  en: {
    timeout: {
      what: "The receiver did not respond in time",
      remedy: "Store the event, return 2xx, then process it. Or increase the endpoint's timeout.",
    },
    dns_error: {
      what: "The host name could not be resolved",
      remedy: "Check the URL and the DNS records of its domain.",
    },
    connection_refused: {
      what: "The receiver refused the connection",
      remedy: "Check that the receiver is running, its port and its firewall.",
    },
    connection_reset: {
      what: "The connection was closed before a response arrived",
      remedy:
        "The receiver may have processed the event. Check it for crashes, and proxies for short timeouts.",
    },
    connection_error: {
      what: "The connection failed",
      remedy: "Check the network between this server and the receiver. The delivery is retried.",
    },
    tls_error: {
      what: "The TLS handshake failed",
      remedy:
        "The certificate may be expired, self-signed or issued for another name. TLS 1.2 or newer is required.",
    },
    bad_response: {
      what: "The response was not valid HTTP/1.1",
      remedy: "Check that the URL points to a web server, and the proxies in between.",
    },
    headers_too_large: {
      what: "The response headers exceeded 8 KB",
      remedy: "Make the receiver send fewer headers, for example no cookies.",
    },
    blocked_address: {
      what: "The URL resolves to an address that is not public",
      remedy: "Use a public address, or ask the operator to allow this network (POSTHORN_ALLOW_CIDRS).",
    },
    invalid_request: {
      what: "The endpoint's settings result in an invalid request",
      remedy: "Check the endpoint's URL and custom headers.",
    },
    lease_ended: {
      what: "The WebSub subscription expired before the event was sent",
      remedy: "The subscriber must subscribe again.",
    },
    not_signed: {
      what: "The worker could not decrypt the endpoint's secret",
      remedy: "Add the key it was encrypted with to POSTHORN_ENCRYPTION_KEYS of the workers.",
    },
    unknown: {
      what: "The worker stopped during the attempt",
      remedy:
        "The event may have arrived. It is sent again, so the receiver should detect duplicates by event id.",
    },
    attempts_exhausted: {
      what: "All attempts of the retry policy failed",
      remedy: "Fix the cause of the last failure, then retry this delivery or replay all of them.",
    },
    too_old: {
      what: "The event is older than the retry policy allows",
      remedy: "Retry it manually if it is still relevant.",
    },
    rejected: {
      what: "The receiver rejected the event",
      remedy: "4xx responses are not retried. Check the response body, fix the receiver, then retry.",
    },
    redirect: {
      what: "The receiver returned a redirect. Redirects are not followed",
      remedy: "Change the endpoint's URL to the target of the redirect.",
    },
    gone: {
      what: "The receiver returned HTTP 410 (Gone)",
      remedy: "The endpoint was disabled. Enable it again if this was a mistake.",
    },
    endpoint_deleted: { what: "The endpoint was deleted", remedy: "The event can no longer be delivered." },
    discarded: {
      what: "The delivery was discarded when the endpoint was enabled",
      remedy: "Retry it, or replay the discarded deliveries.",
    },
    cancelled: { what: "The delivery was cancelled", remedy: "Retry it if this was a mistake." },
    "2xx": { what: "The receiver accepted the event", remedy: "" },
    "3xx": {
      what: "The receiver returned a redirect. Redirects are not followed",
      remedy: "Change the endpoint's URL to the target of the redirect.",
    },
    "401": {
      what: "The receiver rejected the signature or credentials (HTTP 401)",
      remedy: "Check that it verifies the raw body with the current secret, and that its clock is correct.",
    },
    "404": {
      what: "The receiver returned HTTP 404 (Not Found)",
      remedy: "Check the path of the URL, and that the route accepts POST.",
    },
    "409": {
      what: "The receiver is already processing the event (HTTP 409)",
      remedy: "The delivery is retried at the time the receiver asked for. No action is needed.",
    },
    "413": {
      what: "The event exceeds the receiver's size limit (HTTP 413)",
      remedy: "Raise the receiver's limit, or use the thin format.",
    },
    "429": {
      what: "The receiver is rate limiting (HTTP 429)",
      remedy: "The delivery is retried later. Set a rate limit on the endpoint to avoid this.",
    },
    "4xx": { what: "The receiver returned HTTP {status}", remedy: "The response body should say why." },
    "5xx": {
      what: "The receiver returned HTTP {status}",
      remedy: "Check its logs for this event id.",
    },
  },
  de: {
    timeout: {
      what: "Der Empfänger hat nicht rechtzeitig geantwortet",
      remedy:
        "Ereignis speichern, 2xx zurückgeben und erst danach verarbeiten. Oder das Timeout des Endpunkts erhöhen.",
    },
    dns_error: {
      what: "Der Hostname konnte nicht aufgelöst werden",
      remedy: "URL und DNS-Einträge der Domain prüfen.",
    },
    connection_refused: {
      what: "Der Empfänger hat die Verbindung abgelehnt",
      remedy: "Prüfen, ob der Empfänger läuft, sowie Port und Firewall.",
    },
    connection_reset: {
      what: "Die Verbindung wurde vor der Antwort geschlossen",
      remedy:
        "Der Empfänger hat das Ereignis möglicherweise verarbeitet. Auf Abstürze und kurze Timeouts von Proxys prüfen.",
    },
    connection_error: {
      what: "Die Verbindung ist fehlgeschlagen",
      remedy: "Das Netzwerk zum Empfänger prüfen. Die Zustellung wird erneut versucht.",
    },
    tls_error: {
      what: "Der TLS-Handshake ist fehlgeschlagen",
      remedy:
        "Das Zertifikat ist möglicherweise abgelaufen, selbstsigniert oder auf einen anderen Namen ausgestellt. Erforderlich ist TLS 1.2 oder neuer.",
    },
    bad_response: {
      what: "Die Antwort war kein gültiges HTTP/1.1",
      remedy: "Prüfen, ob die URL auf einen Webserver zeigt, und welche Proxys dazwischenliegen.",
    },
    headers_too_large: {
      what: "Die Header der Antwort überschreiten 8 KB",
      remedy: "Der Empfänger muss weniger Header senden, zum Beispiel keine Cookies.",
    },
    blocked_address: {
      what: "Die URL verweist auf eine nicht öffentliche Adresse",
      remedy:
        "Eine öffentliche Adresse verwenden oder den Betreiber bitten, dieses Netz freizugeben (POSTHORN_ALLOW_CIDRS).",
    },
    invalid_request: {
      what: "Die Einstellungen des Endpunkts ergeben keine gültige Anfrage",
      remedy: "URL und benutzerdefinierte Header des Endpunkts prüfen.",
    },
    lease_ended: {
      what: "Das WebSub-Abonnement ist vor dem Senden abgelaufen",
      remedy: "Der Abonnent muss erneut abonnieren.",
    },
    not_signed: {
      what: "Der Worker konnte das Secret des Endpunkts nicht entschlüsseln",
      remedy: "Den zugehörigen Schlüssel in POSTHORN_ENCRYPTION_KEYS der Worker ergänzen.",
    },
    unknown: {
      what: "Der Worker wurde während des Versuchs beendet",
      remedy:
        "Das Ereignis ist möglicherweise angekommen. Es wird erneut gesendet; der Empfänger sollte Duplikate an der Ereignis-ID erkennen.",
    },
    attempts_exhausted: {
      what: "Alle Versuche der Retry-Richtlinie sind fehlgeschlagen",
      remedy: "Ursache des letzten Fehlers beheben, dann erneut versuchen oder ein Replay starten.",
    },
    too_old: {
      what: "Das Ereignis ist älter, als die Retry-Richtlinie erlaubt",
      remedy: "Manuell erneut versuchen, falls es noch relevant ist.",
    },
    rejected: {
      what: "Der Empfänger hat das Ereignis abgelehnt",
      remedy:
        "4xx-Antworten werden nicht erneut versucht. Antwort prüfen, Empfänger korrigieren, dann erneut versuchen.",
    },
    redirect: {
      what: "Der Empfänger hat eine Weiterleitung zurückgegeben. Weiterleitungen wird nicht gefolgt",
      remedy: "Die URL des Endpunkts auf das Ziel der Weiterleitung ändern.",
    },
    gone: {
      what: "Der Empfänger hat HTTP 410 (Gone) zurückgegeben",
      remedy: "Der Endpunkt wurde deaktiviert. Aktivieren Sie ihn wieder, falls das ein Versehen war.",
    },
    endpoint_deleted: {
      what: "Der Endpunkt wurde gelöscht",
      remedy: "Das Ereignis kann nicht mehr zugestellt werden.",
    },
    discarded: {
      what: "Die Zustellung wurde beim Aktivieren des Endpunkts verworfen",
      remedy: "Erneut versuchen oder ein Replay der verworfenen Zustellungen starten.",
    },
    cancelled: {
      what: "Die Zustellung wurde abgebrochen",
      remedy: "Erneut versuchen, falls das ein Versehen war.",
    },
    "2xx": { what: "Der Empfänger hat das Ereignis angenommen", remedy: "" },
    "3xx": {
      what: "Der Empfänger hat eine Weiterleitung zurückgegeben. Weiterleitungen wird nicht gefolgt",
      remedy: "Die URL des Endpunkts auf das Ziel der Weiterleitung ändern.",
    },
    "401": {
      what: "Der Empfänger hat Signatur oder Zugangsdaten abgelehnt (HTTP 401)",
      remedy: "Prüfen, ob er den unveränderten Body mit dem aktuellen Secret prüft und ob seine Uhr stimmt.",
    },
    "404": {
      what: "Der Empfänger hat HTTP 404 (Not Found) zurückgegeben",
      remedy: "Pfad der URL prüfen, und ob die Route POST akzeptiert.",
    },
    "409": {
      what: "Der Empfänger verarbeitet das Ereignis bereits (HTTP 409)",
      remedy: "Der nächste Versuch folgt zum gewünschten Zeitpunkt. Es ist nichts zu tun.",
    },
    "413": {
      what: "Das Ereignis überschreitet das Größenlimit des Empfängers (HTTP 413)",
      remedy: "Das Limit des Empfängers erhöhen oder das Format thin verwenden.",
    },
    "429": {
      what: "Der Empfänger begrenzt die Rate (HTTP 429)",
      remedy: "Die Zustellung wird später erneut versucht. Ein Ratenlimit am Endpunkt vermeidet das.",
    },
    "4xx": {
      what: "Der Empfänger hat HTTP {status} zurückgegeben",
      remedy: "Der Body der Antwort sollte den Grund nennen.",
    },
    "5xx": {
      what: "Der Empfänger hat HTTP {status} zurückgegeben",
      remedy: "Seine Logs auf diese Ereignis-ID prüfen.",
    },
  },
});

/** Explains an outcome by its key; status codes without an entry use that of their class. */
export function explain(key: string, language: Language): Explanation {
  const table = explanations[language];
  const { what, remedy } = table[key] ?? table[key.replace(/^(\d)\d\d$/, "$1xx")] ?? unknownOutcome[language];
  return { what: what.replace("{status}", key), remedy };
}

/** The explanation key of an attempt. */
export function explanationKey({ error, status_code }: Pick<Attempt, "error" | "status_code">): string {
  if (error !== null) return error;
  if (status_code === null) return "unknown";
  return String(status_code);
}

/** The explanation key of an endpoint's last error, which is `HTTP 500` or an attempt's `error`. */
export function lastErrorKey(lastError: string): string {
  const status = /^HTTP (\d{3})$/.exec(lastError)?.[1];
  return status === undefined ? lastError : explanationKey({ error: null, status_code: Number(status) });
}

/** Dead reasons that are explained by the last attempt instead. */
const EXPLAINED_BY_ATTEMPT: ReadonlySet<string> = new Set(["rejected"]);
/** Dead reasons that are explained together with the last attempt. */
const EXPLAINED_WITH_ATTEMPT: ReadonlySet<string> = new Set(["attempts_exhausted", "too_old"]);

/** The explanation keys for a delivery that failed; empty if nothing went wrong. */
export function whyKeys({ state, dead_reason, attempts }: DeliveryDetail): readonly string[] {
  const last = attempts.at(-1);
  const ofLast = last === undefined ? [] : [explanationKey(last)];
  if (dead_reason === null) return state === "failed" ? ofLast : [];
  if (EXPLAINED_BY_ATTEMPT.has(dead_reason) && last !== undefined) return ofLast;
  return EXPLAINED_WITH_ATTEMPT.has(dead_reason) ? [dead_reason, ...ofLast] : [dead_reason];
}
