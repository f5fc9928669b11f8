// The state of a receiver's consent (handshake) and its effect on deliveries.
import type { Endpoint } from "@posthorn/client";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useHasScope } from "../../api/session.ts";
import { defineTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { Note } from "../ui/page.tsx";
import { Ago } from "../ui/time.tsx";

const t = defineTexts({
  requesting: ["The receiver's consent will be requested.", "Die Zustimmung des Empfängers wird angefragt."],
  noResponse: [
    "The receiver did not respond to the consent request. It will be repeated automatically.",
    "Der Empfänger hat die Anfrage nicht beantwortet. Sie wird automatisch wiederholt.",
  ],
  waiting: [
    "The receiver has neither consented nor declined. It can still consent through the callback URL it was given.",
    "Der Empfänger hat weder zugestimmt noch abgelehnt. Über die übermittelte Callback-URL kann er noch zustimmen.",
  ],
  granted: ["The receiver consented, without a rate limit.", "Der Empfänger hat ohne Ratenlimit zugestimmt."],
  grantedAt: [
    "The receiver consented to at most {rate} webhooks per minute.",
    "Der Empfänger hat zugestimmt und erlaubt höchstens {rate} Webhooks pro Minute.",
  ],
  denied: ["The receiver declined webhooks.", "Der Empfänger hat Webhooks abgelehnt."],
  meanwhile: [
    "Deliveries are on hold until the receiver consents.",
    "Die Zustellungen sind angehalten, bis der Empfänger zustimmt.",
  ],
  detail: ["Reason", "Grund"],
  requested: ["Requested", "Angefragt"],
  decided: ["Responded", "Beantwortet"],
  requestedFor: ["Requested for origin {origin}.", "Angefragt für Origin {origin}."],
  requestedForRate: [
    "Requested for origin {origin} at {rate} per minute.",
    "Angefragt für Origin {origin} mit {rate} pro Minute.",
  ],
  again: ["Request again", "Erneut anfragen"],
  requestedAgain: ["Consent requested again.", "Zustimmung erneut angefragt."],
});

export function Consent({ endpoint }: { readonly endpoint: Endpoint }) {
  const { repeatHandshake } = useEndpointChanges();
  const canManage = useHasScope("webhooks:manage");
  const { handshake } = endpoint;
  if (handshake === null) return null;
  const { state, origin, rate, allowed_rate, detail, requested_at, decided_at } = handshake;
  const isGranted = state === "granted";
  const message =
    state === "requesting" && requested_at !== null
      ? t.noResponse
      : isGranted && allowed_rate !== null
        ? t.grantedAt({ rate: whole(allowed_rate) })
        : t[state];
  return (
    <Note tone={isGranted ? "ok" : "warn"}>
      <p className="font-semibold">{message}</p>
      {!isGranted && <p>{t.meanwhile}</p>}
      {detail !== null && (
        <p className="break-words">
          {t.detail}: {detail}
        </p>
      )}
      <p className="break-words">
        {rate === null ? t.requestedFor({ origin }) : t.requestedForRate({ origin, rate: whole(rate) })}
        {requested_at !== null && (
          <>
            {" "}
            {t.requested} <Ago at={requested_at} />.
          </>
        )}
        {decided_at !== null && (
          <>
            {" "}
            {t.decided} <Ago at={decided_at} />.
          </>
        )}
      </p>
      {state === "denied" && canManage && (
        <div className="pt-1">
          <ActionButton icon="retry" action={() => repeatHandshake(endpoint, t.requestedAgain)}>
            {t.again}
          </ActionButton>
        </div>
      )}
    </Note>
  );
}
