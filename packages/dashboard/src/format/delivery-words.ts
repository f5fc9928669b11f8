// What happened to a delivery, in words, and what to do about it. One word for each state, everywhere.
import type { Attempt, Delivery, DeliveryDetail } from "@posthorn/client";
import { defineTexts } from "../app/texts.ts";
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
  en: { pending: "waiting", in_flight: "sending", success: "delivered", failed: "will retry", dead: "dead" },
  de: {
    pending: "wartet",
    in_flight: "wird gesendet",
    success: "zugestellt",
    failed: "neuer Versuch",
    dead: "aufgegeben",
  },
});

export const triggerTexts = defineTexts<Record<Attempt["trigger"], string>>({
  en: {
    event: "new event",
    retry: "automatic retry",
    manual: "retried by hand",
    replay: "replay",
    test: "test event",
  },
  de: {
    event: "neues Ereignis",
    retry: "neuer Versuch",
    manual: "von Hand",
    replay: "Wiederholung",
    test: "Testereignis",
  },
});

/** Why it is dead, in as few words as a column has room for. */
export const reasonTexts = defineTexts<Record<string, string>>({
  en: {
    attempts_exhausted: "every attempt failed",
    too_old: "too old",
    rejected: "refused with 4xx",
    redirect: "redirected",
    gone: "410, wants no more",
    blocked_address: "address not public",
    invalid_request: "no valid request",
    lease_ended: "subscription ended",
    endpoint_deleted: "endpoint deleted",
    discarded: "discarded",
    cancelled: "called off",
  },
  de: {
    attempts_exhausted: "alle Versuche gescheitert",
    too_old: "zu alt",
    rejected: "mit 4xx abgelehnt",
    redirect: "weitergeleitet",
    gone: "410, will nichts mehr",
    blocked_address: "Adresse nicht öffentlich",
    invalid_request: "keine gültige Anfrage",
    lease_ended: "Abonnement zu Ende",
    endpoint_deleted: "Endpunkt gelöscht",
    discarded: "verworfen",
    cancelled: "abgesagt",
  },
});

const unknownEnd: Readonly<Record<"en" | "de", Explanation>> = {
  en: {
    what: "It ended in a way this page does not know",
    remedy: "See the reference of deliveries for this version of the server.",
  },
  de: {
    what: "Es endete auf eine Art, die diese Seite nicht kennt",
    remedy: "Die Referenz der Zustellungen nennt sie.",
  },
};

/** By `error` of an attempt, `dead_reason` of a delivery, or the class of a status. */
export const explanations = defineTexts<Record<string, Explanation>>({
  en: {
    timeout: {
      what: "The receiver did not answer in time",
      remedy:
        "Answer first and work afterwards: keep the event, answer 2xx, then process it. Or raise the endpoint's timeout.",
    },
    dns_error: {
      what: "The host name has no address",
      remedy: "Check the spelling of the URL and the DNS records of its domain.",
    },
    connection_refused: {
      what: "Nobody listens at that address and port",
      remedy: "Start the receiver, and check the port and its firewall.",
    },
    connection_reset: {
      what: "The connection was closed before an answer came",
      remedy: "The receiver may have worked on it. Look for crashes or a proxy that gives up early.",
    },
    connection_error: {
      what: "The connection failed on the way",
      remedy: "Check the network between us and the receiver; it is tried again.",
    },
    tls_error: {
      what: "No trusted TLS connection could be made",
      remedy:
        "The certificate may have expired, be self-signed or be for another name. TLS 1.2 or newer is needed.",
    },
    bad_response: {
      what: "The answer was no valid HTTP/1.1",
      remedy: "Check that the URL leads to a web server, and what stands between it and us.",
    },
    headers_too_large: {
      what: "The answer had more than 8 KB of headers",
      remedy: "Make the receiver answer with fewer headers, such as cookies.",
    },
    blocked_address: {
      what: "The URL leads to an address that is not public",
      remedy: "Use a public address, or have the operator allow this network (POSTHORN_ALLOW_CIDRS).",
    },
    invalid_request: {
      what: "The endpoint's settings make no valid request",
      remedy: "Check the URL and the custom headers of the endpoint.",
    },
    lease_ended: {
      what: "The WebSub subscription had ended before it could be sent",
      remedy: "Its subscriber has to subscribe again.",
    },
    not_signed: {
      what: "The worker could not read the endpoint's secret",
      remedy: "POSTHORN_ENCRYPTION_KEYS of the workers lacks the key it was encrypted with.",
    },
    unknown: {
      what: "The worker died while it was sending",
      remedy:
        "It may have arrived. It is sent again, so the receiver should recognise duplicates by the event id.",
    },
    attempts_exhausted: {
      what: "Every attempt of the retry policy failed",
      remedy: "Mend what the last attempt says, then retry it or replay all of them.",
    },
    too_old: {
      what: "The event became older than the retry policy allows",
      remedy: "Retry it by hand if it still matters.",
    },
    rejected: {
      what: "The receiver refused it",
      remedy:
        "A 4xx says that trying again does not help. Look at the answer's body, mend the receiver, then retry.",
    },
    redirect: {
      what: "The receiver answered with a redirect, and we follow none",
      remedy: "Set the endpoint's URL to where it redirects to.",
    },
    gone: {
      what: "The receiver said 410: it wants no more",
      remedy: "The endpoint was disabled. Enable it again if that was a mistake.",
    },
    endpoint_deleted: { what: "Its endpoint was deleted", remedy: "Nothing can be sent to it any more." },
    discarded: {
      what: "It was discarded when the endpoint was enabled again",
      remedy: "Retry it, or replay what was discarded.",
    },
    cancelled: { what: "Somebody called it off", remedy: "Retry it if that was a mistake." },
    "2xx": { what: "The receiver took it", remedy: "" },
    "3xx": {
      what: "The receiver answered with a redirect, and we follow none",
      remedy: "Set the endpoint's URL to where it redirects to.",
    },
    "401": {
      what: "The receiver did not accept the signature or credentials",
      remedy: "Check that it verifies with the current secret and the raw bytes of the body, and its clock.",
    },
    "404": {
      what: "There is nothing at the endpoint's path",
      remedy: "Check the path of the URL, and that the receiver's route takes POST.",
    },
    "409": {
      what: "The receiver is working on it already",
      remedy: "It asked us to come again; nothing to do.",
    },
    "413": {
      what: "The event is larger than the receiver takes",
      remedy: "Raise its limit, or use the format thin.",
    },
    "429": {
      what: "The receiver asked us to slow down",
      remedy: "It is sent later. A rate limit on the endpoint avoids this.",
    },
    "4xx": { what: "The receiver refused it", remedy: "Look at the answer's body: it should say why." },
    "5xx": {
      what: "The receiver failed",
      remedy: "Look into the receiver's log at this time, with the event id.",
    },
  },
  de: {
    timeout: {
      what: "Der Empfänger hat nicht rechtzeitig geantwortet",
      remedy:
        "Erst antworten, dann arbeiten: Ereignis aufheben, 2xx antworten, danach verarbeiten. Oder die Frist des Endpunkts verlängern.",
    },
    dns_error: {
      what: "Der Hostname hat keine Adresse",
      remedy: "Schreibweise der URL und DNS-Einträge der Domain prüfen.",
    },
    connection_refused: {
      what: "An dieser Adresse und diesem Port hört niemand",
      remedy: "Empfänger starten, Port und Firewall prüfen.",
    },
    connection_reset: {
      what: "Die Verbindung wurde vor der Antwort geschlossen",
      remedy:
        "Der Empfänger kann es verarbeitet haben. Nach Abstürzen suchen oder nach einem Proxy, der zu früh aufgibt.",
    },
    connection_error: {
      what: "Die Verbindung brach unterwegs ab",
      remedy: "Das Netz bis zum Empfänger prüfen; es wird noch einmal versucht.",
    },
    tls_error: {
      what: "Es kam keine vertrauenswürdige TLS-Verbindung zustande",
      remedy:
        "Das Zertifikat ist vielleicht abgelaufen, selbst signiert oder für einen anderen Namen. Nötig ist TLS 1.2 oder neuer.",
    },
    bad_response: {
      what: "Die Antwort war kein gültiges HTTP/1.1",
      remedy: "Prüfen, ob die URL zu einem Webserver führt und was dazwischen steht.",
    },
    headers_too_large: {
      what: "Die Antwort hatte mehr als 8 KB an Headern",
      remedy: "Der Empfänger sollte weniger Header senden, etwa Cookies.",
    },
    blocked_address: {
      what: "Die URL führt zu einer Adresse, die nicht öffentlich ist",
      remedy:
        "Eine öffentliche Adresse nehmen, oder den Betreiber bitten, dieses Netz zu erlauben (POSTHORN_ALLOW_CIDRS).",
    },
    invalid_request: {
      what: "Die Einstellungen des Endpunkts ergeben keine gültige Anfrage",
      remedy: "URL und eigene Header des Endpunkts prüfen.",
    },
    lease_ended: {
      what: "Das WebSub-Abonnement war zu Ende, bevor gesendet werden konnte",
      remedy: "Der Abonnent muss sich neu anmelden.",
    },
    not_signed: {
      what: "Der Worker konnte das Geheimnis des Endpunkts nicht lesen",
      remedy: "POSTHORN_ENCRYPTION_KEYS der Worker fehlt der Schlüssel dazu.",
    },
    unknown: {
      what: "Der Worker starb beim Senden",
      remedy:
        "Es kann angekommen sein. Es wird noch einmal gesendet; der Empfänger sollte Doppelte an der Ereignis-Id erkennen.",
    },
    attempts_exhausted: {
      what: "Alle vorgesehenen Versuche sind gescheitert",
      remedy: "Beheben, was der letzte Versuch sagt, dann neu versuchen oder alle wiederholen.",
    },
    too_old: {
      what: "Das Ereignis wurde älter, als die Vorgabe erlaubt",
      remedy: "Von Hand neu versuchen, wenn es noch zählt.",
    },
    rejected: {
      what: "Der Empfänger hat es abgelehnt",
      remedy: "Bei 4xx hilft kein neuer Versuch. Antwort ansehen, Empfänger beheben, dann neu versuchen.",
    },
    redirect: {
      what: "Der Empfänger leitet weiter, und wir folgen nicht",
      remedy: "Die URL des Endpunkts auf das Ziel der Weiterleitung setzen.",
    },
    gone: {
      what: "Der Empfänger sagte 410: Er will nichts mehr",
      remedy: "Der Endpunkt wurde abgeschaltet. Wieder einschalten, wenn das ein Irrtum war.",
    },
    endpoint_deleted: {
      what: "Sein Endpunkt wurde gelöscht",
      remedy: "Dorthin kann nichts mehr gesendet werden.",
    },
    discarded: {
      what: "Beim Wiedereinschalten des Endpunkts verworfen",
      remedy: "Neu versuchen, oder alles Verworfene wiederholen.",
    },
    cancelled: { what: "Jemand hat es abgesagt", remedy: "Neu versuchen, wenn das ein Irrtum war." },
    "2xx": { what: "Der Empfänger hat es angenommen", remedy: "" },
    "3xx": {
      what: "Der Empfänger leitet weiter, und wir folgen nicht",
      remedy: "Die URL des Endpunkts auf das Ziel der Weiterleitung setzen.",
    },
    "401": {
      what: "Der Empfänger nahm Signatur oder Zugangsdaten nicht an",
      remedy: "Prüfen, ob er mit dem aktuellen Geheimnis und den rohen Bytes prüft, und seine Uhr.",
    },
    "404": {
      what: "Unter dem Pfad des Endpunkts ist nichts",
      remedy: "Pfad der URL prüfen, und ob die Route POST nimmt.",
    },
    "409": {
      what: "Der Empfänger arbeitet schon daran",
      remedy: "Er bat uns wiederzukommen; nichts zu tun.",
    },
    "413": {
      what: "Das Ereignis ist größer, als der Empfänger annimmt",
      remedy: "Seine Grenze erhöhen, oder das Format thin nehmen.",
    },
    "429": {
      what: "Der Empfänger bat, langsamer zu senden",
      remedy: "Es wird später gesendet. Eine Ratenbegrenzung am Endpunkt vermeidet das.",
    },
    "4xx": { what: "Der Empfänger hat es abgelehnt", remedy: "Der Text der Antwort sollte sagen, warum." },
    "5xx": {
      what: "Der Empfänger ist gescheitert",
      remedy: "Ins Log des Empfängers zu dieser Zeit sehen, mit der Ereignis-Id.",
    },
  },
});

export function explain(table: Record<string, Explanation>, key: string, language: "en" | "de"): Explanation {
  return table[key] ?? unknownEnd[language];
}

/** Under which name an attempt is explained. */
export function explanationKey({ error, status_code }: Pick<Attempt, "error" | "status_code">): string {
  if (error !== null) return error;
  if (status_code === null) return "unknown";
  return String(status_code) in explanations.en ? String(status_code) : `${Math.floor(status_code / 100)}xx`;
}

/** The same for an endpoint's last error, which is `HTTP 500` or the attempt's `error`. */
export function lastErrorKey(lastError: string): string {
  const status = /^HTTP (\d{3})$/.exec(lastError)?.[1];
  return status === undefined ? lastError : explanationKey({ error: null, status_code: Number(status) });
}

/** Ends that only the answer explains: what it was stands there instead. */
const SAID_BY_ANSWER: ReadonlySet<string> = new Set(["rejected"]);
/** Ends that the last attempt led to: it is told beside them. */
const LED_TO_BY_ATTEMPT: ReadonlySet<string> = new Set(["attempts_exhausted", "too_old"]);

/** Under which names it is told why a delivery has not arrived; none while nothing went wrong. */
export function whyKeys({ state, dead_reason, attempts }: DeliveryDetail): readonly string[] {
  const last = attempts.at(-1);
  const ofLast = last === undefined ? [] : [explanationKey(last)];
  if (dead_reason === null) return state === "failed" ? ofLast : [];
  if (SAID_BY_ANSWER.has(dead_reason) && last !== undefined) return ofLast;
  return LED_TO_BY_ATTEMPT.has(dead_reason) ? [dead_reason, ...ofLast] : [dead_reason];
}
