// What an endpoint said when it was asked whether it wants webhooks, and what that means for what is owed to it.
import type { Endpoint } from "@posthorn/client";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useSubmission } from "../../api/problems.ts";
import { useMay } from "../../api/session.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Button } from "../ui/button.tsx";
import { Ago } from "../ui/time.tsx";

const texts = defineTexts({
  en: {
    asking: (isAsked: boolean): string =>
      isAsked
        ? "It was asked whether it wants webhooks, and gave no answer. It is asked again by itself."
        : "It is about to be asked whether it wants webhooks.",
    waiting:
      "It was asked whether it wants webhooks, and has said neither yes nor no. It can still agree by the callback URL that it was told.",
    granted: (rate: string | null) =>
      rate === null
        ? "It agreed to webhooks, as many as there are."
        : `It agreed to at most ${rate} webhooks a minute.`,
    denied: "It does not want webhooks.",
    meanwhile: "Nothing is sent to it, and what is for it waits until it agrees.",
    detail: "Why",
    asked: "Asked",
    decided: "Decided",
    askedAs: (origin: string, rate: string | null) =>
      rate === null ? `In the name of ${origin}.` : `In the name of ${origin}, for ${rate} a minute.`,
    again: "Ask again",
    askedAgain: "It is asked again.",
  },
  de: {
    asking: (isAsked: boolean): string =>
      isAsked
        ? "Er wurde gefragt, ob er Webhooks will, und gab keine Antwort. Er wird von selbst wieder gefragt."
        : "Er wird gleich gefragt, ob er Webhooks will.",
    waiting:
      "Er wurde gefragt, ob er Webhooks will, und hat weder ja noch nein gesagt. Über die Adresse, die er dabei bekam, kann er noch zustimmen.",
    granted: (rate: string | null) =>
      rate === null
        ? "Er hat Webhooks zugestimmt, in beliebiger Zahl."
        : `Er hat höchstens ${rate} Webhooks je Minute zugestimmt.`,
    denied: "Er will keine Webhooks.",
    meanwhile: "Nichts wird an ihn gesendet, und was für ihn ist, wartet, bis er zustimmt.",
    detail: "Warum",
    asked: "Gefragt",
    decided: "Entschieden",
    askedAs: (origin: string, rate: string | null) =>
      rate === null ? `Im Namen von ${origin}.` : `Im Namen von ${origin}, um ${rate} je Minute.`,
    again: "Noch einmal fragen",
    askedAgain: "Er wird noch einmal gefragt.",
  },
});

export function Consent({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { askAgain } = useEndpointChanges();
  const { isBusy, submit } = useSubmission();
  const mayManage = useMay("webhooks:manage");
  const { handshake } = endpoint;
  if (handshake === null) return null;
  const { state, origin, rate, allowed_rate, detail, asked_at, decided_at } = handshake;
  const inWords = (perMinute: number | null) => (perMinute === null ? null : whole(perMinute, language));
  const said = {
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
      <p className="font-semibold">{said[state]()}</p>
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
      {state === "denied" && mayManage && (
        <div className="pt-1">
          <Button
            icon="retry"
            isBusy={isBusy}
            onClick={() => void submit(() => askAgain(endpoint, t.askedAgain))}
          >
            {t.again}
          </Button>
        </div>
      )}
    </div>
  );
}
