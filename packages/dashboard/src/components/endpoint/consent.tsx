// The state of a receiver's consent (handshake) and its effect on deliveries.
import type { Endpoint } from "@posthorn/client";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useSubmission } from "../../api/problems.ts";
import { useHasScope } from "../../api/session.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Button } from "../ui/button.tsx";
import { Ago } from "../ui/time.tsx";

const texts = defineTexts({
  en: {
    asking: (isAsked: boolean): string =>
      isAsked
        ? "The receiver did not answer the consent request. It will be repeated automatically."
        : "The receiver's consent will be requested.",
    waiting:
      "The receiver has neither consented nor declined. It can still consent through the callback URL it was given.",
    granted: (rate: string | null) =>
      rate === null
        ? "The receiver consented, without a rate limit."
        : `The receiver consented to at most ${rate} webhooks per minute.`,
    denied: "The receiver declined webhooks.",
    meanwhile: "Deliveries are on hold until the receiver consents.",
    detail: "Reason",
    asked: "Requested",
    decided: "Answered",
    askedAs: (origin: string, rate: string | null) =>
      rate === null
        ? `Requested for origin ${origin}.`
        : `Requested for origin ${origin} with ${rate} per minute.`,
    again: "Request again",
    askedAgain: "Consent requested again.",
  },
  de: {
    asking: (isAsked: boolean): string =>
      isAsked
        ? "Der Empfänger hat die Anfrage nicht beantwortet. Sie wird automatisch wiederholt."
        : "Die Zustimmung des Empfängers wird angefragt.",
    waiting:
      "Der Empfänger hat weder zugestimmt noch abgelehnt. Über die übermittelte Callback-URL kann er noch zustimmen.",
    granted: (rate: string | null) =>
      rate === null
        ? "Der Empfänger hat ohne Ratenlimit zugestimmt."
        : `Der Empfänger hat höchstens ${rate} Webhooks pro Minute zugestimmt.`,
    denied: "Der Empfänger hat Webhooks abgelehnt.",
    meanwhile: "Die Zustellungen sind angehalten, bis der Empfänger zustimmt.",
    detail: "Grund",
    asked: "Angefragt",
    decided: "Beantwortet",
    askedAs: (origin: string, rate: string | null) =>
      rate === null
        ? `Angefragt für Origin ${origin}.`
        : `Angefragt für Origin ${origin} mit ${rate} pro Minute.`,
    again: "Erneut anfragen",
    askedAgain: "Zustimmung erneut angefragt.",
  },
});

export function Consent({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { repeatHandshake } = useEndpointChanges();
  const { isBusy, submit } = useSubmission();
  const canManage = useHasScope("webhooks:manage");
  const { handshake } = endpoint;
  if (handshake === null) return null;
  const { state, origin, rate, allowed_rate, detail, asked_at, decided_at } = handshake;
  const inWords = (perMinute: number | null) => (perMinute === null ? null : whole(perMinute, language));
  const messages = {
    asking: () => t.asking(asked_at !== null),
    waiting: () => t.waiting,
    granted: () => t.granted(inWords(allowed_rate)),
    denied: () => t.denied,
  };
  const isGranted = state === "granted";
  return (
    <div
      role="note"
      className={`flex flex-col gap-1 rounded-lg border border-line p-4 ${isGranted ? "bg-ok-ground text-ok" : "bg-warn-ground text-warn"}`}
    >
      <p className="font-semibold">{messages[state]()}</p>
      {!isGranted && <p>{t.meanwhile}</p>}
      {detail !== null && (
        <p className="break-words">
          {t.detail}: {detail}
        </p>
      )}
      <p className="break-words">
        {t.askedAs(origin, inWords(rate))}
        {asked_at !== null && (
          <>
            {" "}
            {t.asked} <Ago at={asked_at} />.
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
          <Button
            icon="retry"
            isBusy={isBusy}
            onClick={() => void submit(() => repeatHandshake(endpoint, t.askedAgain))}
          >
            {t.again}
          </Button>
        </div>
      )}
    </div>
  );
}
