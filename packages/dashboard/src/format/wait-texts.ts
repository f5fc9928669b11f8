// Texts for what a delivery waits for, with what to do about it.
import type { WaitsFor } from "@posthorn/client";
import { defineTexts } from "../app/texts.ts";
import { clockTime, duration } from "./time.ts";

/** A pause or an open circuit has an end; a rate limit and a half-open circuit have none. */
type Key = WaitsFor["reason"] | "throttle" | "probe";

const t = defineTexts({
  short: {
    retry_delay: "",
    circuit: ["circuit open, probe", "Circuit offen, Test"],
    probe: ["circuit half-open", "Circuit Breaker halb offen"],
    throttle: ["throttled, resumes", "gedrosselt, weiter"],
    rate_limit: ["rate limit", "Ratenlimit"],
    cap: ["attempts-in-flight limit", "Limit laufender Versuche"],
    ordering: ["earlier event of its subject", "früheres Ereignis des Subjects"],
    handshake: ["when the receiver consents", "wenn der Empfänger zustimmt"],
    endpoint_disabled: ["when the endpoint is enabled", "wenn der Endpunkt aktiviert ist"],
    tenant_off: ["when the tenant is active", "wenn der Mandant aktiv ist"],
    sending_off: ["when delivery is turned on", "wenn die Zustellung eingeschaltet ist"],
  },
  what: {
    retry_delay: ["Next attempt in {wait}, at {at}.", "Nächster Versuch in {wait}, um {at}."],
    circuit: [
      "Circuit open: deliveries are paused. Next probe in {wait}, at {at}.",
      "Circuit Breaker offen: Die Zustellungen sind angehalten. Nächster Testversuch in {wait}, um {at}.",
    ],
    probe: [
      "Circuit half-open: the endpoint is being probed.",
      "Circuit Breaker halb offen: Der Endpunkt wird getestet.",
    ],
    throttle: [
      "Throttled: the receiver asked to pause. Deliveries resume in {wait}, at {at}.",
      "Gedrosselt: Der Empfänger hat um eine Pause gebeten. Weiter in {wait}, um {at}.",
    ],
    rate_limit: ["Waiting for the endpoint's rate limit.", "Wartet wegen des Ratenlimits des Endpunkts."],
    cap: [
      "Waiting: the endpoint's limit of attempts in flight is reached.",
      "Wartet: Das Limit gleichzeitiger Versuche des Endpunkts ist erreicht.",
    ],
    ordering: [
      "Waiting for an earlier event of its subject.",
      "Wartet auf ein früheres Ereignis desselben Subjects.",
    ],
    handshake: [
      "On hold: the receiver has not consented to webhooks.",
      "Angehalten: Die Zustimmung des Empfängers fehlt.",
    ],
    endpoint_disabled: ["On hold: the endpoint is disabled.", "Angehalten: Der Endpunkt ist deaktiviert."],
    tenant_off: ["On hold: the tenant is inactive.", "Angehalten: Der Mandant ist inaktiv."],
    sending_off: ["On hold: delivery is turned off.", "Angehalten: Die Zustellung ist ausgeschaltet."],
  },
  remedies: {
    retry_delay: ["", ""],
    circuit: [
      "The endpoint failed too often. The probe is a single delivery; if it succeeds, deliveries resume.",
      "Der Endpunkt ist zu oft fehlgeschlagen. Der Testversuch ist eine einzelne Zustellung. Gelingt er, werden die Zustellungen fortgesetzt.",
    ],
    probe: [
      "If the probes succeed, deliveries resume.",
      "Gelingen die Testversuche, werden die Zustellungen fortgesetzt.",
    ],
    throttle: [
      "The receiver returned HTTP 429, 502, 503 or 504. No action is needed.",
      "Der Empfänger hat HTTP 429, 502, 503 oder 504 zurückgegeben. Es ist nichts zu tun.",
    ],
    rate_limit: [
      "If the receiver can handle more requests per second, raise the rate limit in the endpoint's settings.",
      "Verträgt der Empfänger mehr Anfragen pro Sekunde, das Ratenlimit in den Einstellungen des Endpunkts erhöhen.",
    ],
    cap: [
      "Make the receiver respond faster, or raise the limit in the endpoint's settings.",
      "Der Empfänger muss schneller antworten, oder das Limit in den Einstellungen des Endpunkts muss erhöht werden.",
    ],
    ordering: [
      "The endpoint receives the events of a subject in order. If the earlier delivery is dead, retry or delete it.",
      "Der Endpunkt erhält die Ereignisse eines Subjects der Reihe nach. Ist die frühere Zustellung endgültig fehlgeschlagen, diese erneut versuchen oder löschen.",
    ],
    handshake: [
      "The delivery continues when the receiver consents. Its response is shown on the endpoint's page.",
      "Die Zustellung wird fortgesetzt, sobald der Empfänger zustimmt. Seine Antwort steht auf der Seite des Endpunkts.",
    ],
    endpoint_disabled: [
      "The delivery continues when the endpoint is enabled, unless the backlog is discarded.",
      "Die Zustellung wird fortgesetzt, sobald der Endpunkt aktiviert wird, sofern der Rückstand nicht verworfen wird.",
    ],
    tenant_off: [
      "The delivery continues when the tenant is activated.",
      "Die Zustellung wird fortgesetzt, sobald der Mandant aktiviert wird.",
    ],
    sending_off: [
      "The delivery continues when an operator turns delivery on for the whole installation.",
      "Die Zustellung wird fortgesetzt, sobald ein Betreiber sie für die ganze Installation einschaltet.",
    ],
  },
  names: {
    retry_delay: ["Scheduled retry", "Geplanter Versuch"],
    circuit: ["Circuit open", "Circuit Breaker offen"],
    rate_limit: ["Rate limit or requested pause", "Ratenlimit oder erbetene Pause"],
    cap: ["Limit of attempts in flight", "Limit laufender Versuche"],
    ordering: ["Earlier event of the subject", "Früheres Ereignis des Subjects"],
    handshake: ["Receiver has not consented", "Zustimmung des Empfängers fehlt"],
    endpoint_disabled: ["Endpoint disabled", "Endpunkt deaktiviert"],
    tenant_off: ["Tenant inactive", "Mandant inaktiv"],
    sending_off: ["Delivery turned off", "Zustellung ausgeschaltet"],
  },
  due: ["The next attempt is due now.", "Der nächste Versuch ist jetzt fällig."],
});

type Waits = Pick<WaitsFor, "reason" | "until">;

/** The reason as a heading, for a number of deliveries. */
export function waitName(reason: WaitsFor["reason"]): string {
  return t.names[reason];
}

/** What it waits for in a few words, to which the time is appended. Empty if the time says everything. */
export function shortWait(waits: Waits): string {
  return t.short[keyOf(waits)];
}

/** A time that has passed is not shown: until the next update, the delivery is due. */
export function explainWait(waits: Waits, now: number): { readonly what: string; readonly remedy: string } {
  const key = keyOf(waits);
  const text = t.what[key];
  if (typeof text === "string" || waits.until === null)
    return { what: String(text), remedy: t.remedies[key] };
  const until = new Date(waits.until);
  const leftMs = until.getTime() - now;
  if (leftMs <= 0) return { what: t.due, remedy: "" };
  return { what: text({ wait: duration(leftMs), at: clockTime(until) }), remedy: t.remedies[key] };
}

function keyOf({ reason, until }: Waits): Key {
  if (reason === "rate_limit" && until !== null) return "throttle";
  return reason === "circuit" && until === null ? "probe" : reason;
}
