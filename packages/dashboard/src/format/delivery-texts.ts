// Texts for delivery states, outcomes and dead reasons, with what to do about them.
import type { Attempt, Delivery, DeliveryDetail } from "@posthorn/client";
import { currentLanguage, inLanguage, type Text } from "../app/texts.ts";
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

/** An outcome and its remedy, in English and in German. */
type Explanation = readonly [what: string, remedy: string, was: string, abhilfe: string];

export const stateTexts = inLanguage<Readonly<Record<State, Text>>>({
  pending: ["pending", "ausstehend"],
  in_flight: ["in flight", "wird gesendet"],
  success: ["delivered", "zugestellt"],
  failed: ["will retry", "wird erneut versucht"],
  dead: ["dead", "fehlgeschlagen"],
});

export const triggerTexts = inLanguage<Readonly<Record<Attempt["trigger"], Text>>>({
  event: ["new event", "neues Ereignis"],
  retry: ["automatic retry", "automatische Wiederholung"],
  manual: ["manual retry", "manuelle Wiederholung"],
  replay: ["replay", "Replay"],
  test: ["test event", "Testereignis"],
  edited: ["edited copy", "bearbeitete Kopie"],
});

/** Dead reasons, short enough for a table column. */
export const reasonTexts = inLanguage<Readonly<Record<string, Text>>>({
  attempts_exhausted: ["attempts exhausted", "alle Versuche fehlgeschlagen"],
  too_old: ["too old", "zu alt"],
  rejected: ["rejected (4xx)", "abgelehnt (4xx)"],
  redirect: ["redirect", "Weiterleitung"],
  gone: ["gone (410)", "nicht mehr vorhanden (410)"],
  blocked_address: ["blocked address", "gesperrte Adresse"],
  invalid_request: ["invalid request", "ungültige Anfrage"],
  lease_expired: ["subscription expired", "Abonnement abgelaufen"],
  endpoint_deleted: ["endpoint deleted", "Endpunkt gelöscht"],
  discarded: ["discarded", "verworfen"],
  cancelled: ["cancelled", "abgebrochen"],
});

const unknownOutcome: Explanation = [
  "Unknown outcome",
  "See the deliveries reference for this version of the server.",
  "Unbekanntes Ergebnis",
  "Siehe die Referenz zu Zustellungen für diese Version des Servers.",
];

const redirect: Explanation = [
  "The receiver returned a redirect. Redirects are not followed",
  "Change the endpoint's URL to the target of the redirect.",
  "Der Empfänger hat eine Weiterleitung zurückgegeben. Weiterleitungen wird nicht gefolgt",
  "Die URL des Endpunkts auf das Ziel der Weiterleitung ändern.",
];

/** Explanations by an attempt's `error`, a delivery's `dead_reason`, or a status code or class. */
export const explanations: Readonly<Record<string, Explanation>> = {
  timeout: [
    "The receiver did not respond in time",
    "Store the event, return 2xx, then process it. Or increase the endpoint's timeout.",
    "Der Empfänger hat nicht rechtzeitig geantwortet",
    "Ereignis speichern, 2xx zurückgeben und erst danach verarbeiten. Oder das Timeout des Endpunkts erhöhen.",
  ],
  dns_error: [
    "The host name could not be resolved",
    "Check the URL and the DNS records of its domain.",
    "Der Hostname konnte nicht aufgelöst werden",
    "URL und DNS-Einträge der Domain prüfen.",
  ],
  connection_refused: [
    "The receiver refused the connection",
    "Check that the receiver is running, and check its port and firewall.",
    "Der Empfänger hat die Verbindung abgelehnt",
    "Prüfen, ob der Empfänger läuft und ob Port und Firewall stimmen.",
  ],
  connection_reset: [
    "The connection was closed before a response arrived",
    "The receiver may have processed the event. Check it for crashes, and proxies for short timeouts.",
    "Die Verbindung wurde vor der Antwort geschlossen",
    "Der Empfänger hat das Ereignis möglicherweise verarbeitet. Empfänger auf Abstürze und Proxys auf zu kurze Timeouts prüfen.",
  ],
  connection_error: [
    "The connection failed",
    "Check the network between this server and the receiver. The delivery is retried.",
    "Die Verbindung ist fehlgeschlagen",
    "Das Netzwerk zum Empfänger prüfen. Die Zustellung wird erneut versucht.",
  ],
  tls_error: [
    "The TLS handshake failed",
    "The certificate may be expired, self-signed or issued for another name. TLS 1.2 or newer is required.",
    "Der TLS-Handshake ist fehlgeschlagen",
    "Das Zertifikat ist möglicherweise abgelaufen, selbstsigniert oder auf einen anderen Namen ausgestellt. Erforderlich ist TLS 1.2 oder neuer.",
  ],
  bad_response: [
    "The response was not valid HTTP/1.1",
    "Check that the URL points to a web server, and check the proxies in between.",
    "Die Antwort war kein gültiges HTTP/1.1",
    "Prüfen, ob die URL auf einen Webserver zeigt, und welche Proxys dazwischenliegen.",
  ],
  headers_too_large: [
    "The response headers exceeded 16 KB",
    "Make the receiver send fewer headers, for example no cookies.",
    "Die Header der Antwort überschreiten 16 KB",
    "Der Empfänger muss weniger Header senden, zum Beispiel keine Cookies.",
  ],
  blocked_address: [
    "The URL resolves to an address that is not public",
    "Use a public address, or ask the operator to allow this network (POSTHORN_ALLOW_CIDRS).",
    "Die URL verweist auf eine nicht öffentliche Adresse",
    "Eine öffentliche Adresse verwenden oder den Betreiber bitten, dieses Netz freizugeben (POSTHORN_ALLOW_CIDRS).",
  ],
  invalid_request: [
    "The endpoint's settings result in an invalid request",
    "Check the endpoint's URL and custom headers.",
    "Die Einstellungen des Endpunkts ergeben keine gültige Anfrage",
    "URL und benutzerdefinierte Header des Endpunkts prüfen.",
  ],
  lease_expired: [
    "The WebSub subscription expired before the event was sent",
    "The subscriber must subscribe again.",
    "Das WebSub-Abonnement ist vor dem Senden abgelaufen",
    "Der Abonnent muss erneut abonnieren.",
  ],
  not_signed: [
    "The worker could not decrypt the endpoint's secret",
    "Add the key it was encrypted with to POSTHORN_ENCRYPTION_KEYS of the workers.",
    "Der Worker konnte das Secret des Endpunkts nicht entschlüsseln",
    "Den zugehörigen Schlüssel in POSTHORN_ENCRYPTION_KEYS der Worker ergänzen.",
  ],
  unknown: [
    "The worker stopped during the attempt",
    "The event may have arrived. It is sent again, so the receiver should detect duplicates by event id.",
    "Der Worker wurde während des Versuchs beendet",
    "Das Ereignis ist möglicherweise angekommen. Es wird erneut gesendet; der Empfänger sollte Duplikate an der Ereignis-ID erkennen.",
  ],
  attempts_exhausted: [
    "All attempts of the retry policy failed",
    "Fix the cause of the last failure, then retry this delivery or replay all of them.",
    "Alle Versuche der Retry-Richtlinie sind fehlgeschlagen",
    "Ursache des letzten Fehlers beheben, dann erneut versuchen oder ein Replay starten.",
  ],
  too_old: [
    "The event is older than the retry policy allows",
    "Retry it manually if it is still relevant.",
    "Das Ereignis ist älter, als die Retry-Richtlinie erlaubt",
    "Manuell erneut versuchen, falls es noch relevant ist.",
  ],
  rejected: [
    "The receiver rejected the event",
    "This 4xx response is not retried automatically. Check the response body, fix the receiver, then retry.",
    "Der Empfänger hat das Ereignis abgelehnt",
    "Nach dieser 4xx-Antwort folgt kein automatischer Versuch. Antwort prüfen, Empfänger korrigieren, dann erneut versuchen.",
  ],
  redirect,
  gone: [
    "The receiver returned HTTP 410 (Gone)",
    "The endpoint was disabled. Enable it again if this was a mistake.",
    "Der Empfänger hat HTTP 410 (Gone) zurückgegeben",
    "Der Endpunkt wurde deaktiviert. Aktivieren Sie ihn wieder, falls das ein Versehen war.",
  ],
  endpoint_deleted: [
    "The endpoint was deleted",
    "The event can no longer be delivered.",
    "Der Endpunkt wurde gelöscht",
    "Das Ereignis kann nicht mehr zugestellt werden.",
  ],
  discarded: [
    "The delivery was discarded when the endpoint was enabled",
    "Retry it, or replay the discarded deliveries.",
    "Die Zustellung wurde beim Aktivieren des Endpunkts verworfen",
    "Erneut versuchen oder ein Replay der verworfenen Zustellungen starten.",
  ],
  cancelled: [
    "The delivery was cancelled",
    "Retry it if this was a mistake.",
    "Die Zustellung wurde abgebrochen",
    "Erneut versuchen, falls das ein Versehen war.",
  ],
  "2xx": ["The receiver accepted the event", "", "Der Empfänger hat das Ereignis angenommen", ""],
  "3xx": redirect,
  "401": [
    "The receiver rejected the signature or credentials (HTTP 401)",
    "Check that it verifies the raw body with the current secret, and that its clock is correct.",
    "Der Empfänger hat Signatur oder Zugangsdaten abgelehnt (HTTP 401)",
    "Sicherstellen, dass er den unveränderten Body mit dem aktuellen Secret prüft und dass seine Uhr stimmt.",
  ],
  "404": [
    "The receiver returned HTTP 404 (Not Found)",
    "Check the path of the URL, and that the route accepts POST.",
    "Der Empfänger hat HTTP 404 (Not Found) zurückgegeben",
    "Pfad der URL prüfen, und ob die Route POST akzeptiert.",
  ],
  "409": [
    "The receiver returned HTTP 409 (Conflict)",
    "With Retry-After, the delivery is retried at that time. Without it, 409 is treated like any other 4xx: check the response body for the reason.",
    "Der Empfänger hat HTTP 409 (Conflict) zurückgegeben",
    "Mit Retry-After folgt der nächste Versuch zu diesem Zeitpunkt. Ohne Retry-After gilt 409 wie jede andere 4xx-Antwort: Der Body der Antwort sollte den Grund nennen.",
  ],
  "413": [
    "The event exceeds the receiver's size limit (HTTP 413)",
    "Raise the receiver's limit, or use the thin format.",
    "Das Ereignis überschreitet das Größenlimit des Empfängers (HTTP 413)",
    "Das Limit des Empfängers erhöhen oder das Format thin verwenden.",
  ],
  "429": [
    "The receiver is rate limiting requests (HTTP 429)",
    "The delivery is retried later. Set a rate limit on the endpoint to avoid this.",
    "Der Empfänger hat ein Ratenlimit gemeldet (HTTP 429)",
    "Die Zustellung wird später erneut versucht. Ein Ratenlimit am Endpunkt vermeidet das.",
  ],
  "4xx": [
    "The receiver returned HTTP <status>",
    "Check the response body for the reason.",
    "Der Empfänger hat HTTP <status> zurückgegeben",
    "Der Body der Antwort sollte den Grund nennen.",
  ],
  "5xx": [
    "The receiver returned HTTP <status>",
    "Check its logs for this event id.",
    "Der Empfänger hat HTTP <status> zurückgegeben",
    "In seinen Logs nach dieser Ereignis-ID suchen.",
  ],
};

/** Explains an outcome by its key; status codes without an entry use that of their class. */
export function explain(key: string): { readonly what: string; readonly remedy: string } {
  const entry = explanations[key] ?? explanations[key.replace(/^(\d)\d\d$/, "$1xx")] ?? unknownOutcome;
  const [what, remedy] = entry.slice(currentLanguage() === "en" ? 0 : 2) as [string, string];
  return { what: what.replace("<status>", key), remedy };
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

export interface DeliveryExplanation {
  readonly cause: string;
  /** Null if the cause says it. */
  readonly effect: string | null;
  readonly remedy: string;
}

/** Explains why a delivery failed in three sentences, none of them twice. Null if nothing went wrong. */
export function explainDelivery(delivery: DeliveryDetail): DeliveryExplanation | null {
  const explained = whyKeys(delivery).map(explain);
  const cause = explained.at(-1);
  if (cause === undefined) return null;
  const [reason] = explained.length > 1 ? explained : [];
  return {
    cause: `${cause.what}.`,
    effect: reason === undefined ? null : `${reason.what}.`,
    remedy: [cause.remedy, reason?.remedy].filter(Boolean).join(" "),
  };
}
