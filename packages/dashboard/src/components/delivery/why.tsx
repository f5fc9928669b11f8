// "Why did they not get it?", in words, with what to do about it: beside each endpoint of an event.
import type { Delivery, Event, NotMatched } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain, explanations } from "../../format/delivery-words.ts";
import { Ago } from "../ui/time.tsx";
import { HoldNote, useHold } from "./next-attempt.tsx";

const texts = defineTexts({
  en: {
    again: "The last attempt failed. It is tried again",
    attempt: "what the attempt said",
    endpoint: "Go to the endpoint",
    whys: {
      type: (_: string, type: string) => `Its events do not include ${type}.`,
      filter: (pointer: string) => `The condition at ${pointer} of its filter does not hold.`,
      filter_hidden: () => "Its filter looks at redacted data, so what came of it is not shown.",
      created_later: () => "It was made after the event.",
      deleted: () => "It has been deleted since.",
      test: () => "A test event is for one endpoint alone.",
      batch: () => "A batch is for the endpoint that its events were collected for.",
      lease_ended: () => "Its WebSub subscription had ended.",
      about_itself: () => "An endpoint is not told about itself.",
      waiting: () => "The event is stored, and its deliveries are about to be made.",
      tenant_inactive: () => "The tenant is inactive, and gets nothing.",
      matches_now: () =>
        "By its settings of now it would get the event. It was changed since, the tenant was inactive then, the delivery is older than the retention, or somebody deleted its dead letter.",
    } satisfies Record<NotMatched["reason"], (pointer: string, type: string) => string>,
    tenant: "Go to the tenant",
    remedies: {
      type: "Add the type to the endpoint's events. A replay of what it wants now and has not got brings this one, too.",
      filter:
        "If it should have got this, change the filter. A replay of what it wants now and has not got brings this one, too.",
      filter_hidden: "Whoever may read payloads sees what came of it.",
      created_later: "A replay of what it wants now and has not got brings it.",
      deleted: "Nothing can be sent to it any more. Make a new endpoint, and replay what it has not got.",
      test: "Send a test to this endpoint from its page.",
      about_itself: "The tenant's other endpoints are told.",
      waiting: "Look again in a moment.",
      tenant_inactive:
        "Activate the tenant. A replay of what its endpoints want now and have not got brings this one, too.",
      matches_now: "A replay of what it wants now and has not got brings it.",
      batch: "There is nothing to do: a batch is for one endpoint alone.",
      lease_ended: "Its subscriber has to subscribe again.",
    } satisfies Record<NotMatched["reason"], string>,
  },
  de: {
    again: "Der letzte Versuch scheiterte. Es wird wieder versucht",
    attempt: "was der Versuch ergab",
    endpoint: "Zum Endpunkt",
    whys: {
      type: (_: string, type: string) => `Seine Ereignisse enthalten ${type} nicht.`,
      filter: (pointer: string) => `Die Bedingung bei ${pointer} in seinem Filter trifft nicht zu.`,
      filter_hidden: () =>
        "Sein Filter sieht auf verdeckte Daten, darum wird nicht gezeigt, was daraus wurde.",
      created_later: () => "Er wurde nach dem Ereignis angelegt.",
      deleted: () => "Er wurde seitdem gelöscht.",
      test: () => "Ein Testereignis ist für einen einzigen Endpunkt.",
      batch: () => "Ein Stapel ist für den Endpunkt, für den seine Ereignisse gesammelt wurden.",
      lease_ended: () => "Sein WebSub-Abonnement war zu Ende.",
      about_itself: () => "Ein Endpunkt erfährt nichts über sich selbst.",
      waiting: () => "Das Ereignis ist gespeichert, seine Zustellungen werden gleich angelegt.",
      tenant_inactive: () => "Der Mandant ist abgeschaltet und bekommt nichts.",
      matches_now: () =>
        "Mit seinen jetzigen Einstellungen bekäme er das Ereignis. Er wurde seitdem geändert, der Mandant war damals abgeschaltet, die Zustellung ist älter als die Aufbewahrung, oder jemand hat sie gelöscht.",
    },
    tenant: "Zum Mandanten",
    remedies: {
      type: "Den Typ bei den Ereignissen des Endpunkts ergänzen. Eine Wiederholung dessen, was er jetzt will und nicht bekam, bringt auch dieses.",
      filter:
        "Wenn er es hätte bekommen sollen, den Filter ändern. Eine Wiederholung dessen, was er jetzt will und nicht bekam, bringt auch dieses.",
      filter_hidden: "Wer Inhalte lesen darf, sieht, was daraus wurde.",
      created_later: "Eine Wiederholung dessen, was er jetzt will und nicht bekam, bringt es.",
      deleted:
        "Dorthin kann nichts mehr gesendet werden. Einen neuen Endpunkt anlegen und wiederholen, was ihm fehlt.",
      test: "Auf seiner Seite einen Test an diesen Endpunkt senden.",
      about_itself: "Die anderen Endpunkte des Mandanten erfahren es.",
      waiting: "Gleich noch einmal ansehen.",
      tenant_inactive:
        "Den Mandanten aktivieren. Eine Wiederholung dessen, was seine Endpunkte jetzt wollen und nicht bekamen, bringt auch dieses.",
      matches_now: "Eine Wiederholung dessen, was er jetzt will und nicht bekam, bringt es.",
      batch: "Es ist nichts zu tun: Ein Stapel ist für einen Endpunkt allein.",
      lease_ended: "Der Abonnent muss sich neu anmelden.",
    },
  },
});

/** Nothing for what was delivered. */
export function WhyNotYet({ delivery }: { readonly delivery: Delivery }) {
  const t = useTexts(texts);
  const words = useTexts(explanations);
  const language = useLanguage();
  const hold = useHold(delivery);
  if (delivery.dead_reason !== null) {
    const { what, remedy } = explain(words, delivery.dead_reason, language);
    return (
      <Reason>
        <p className="font-medium">{what}.</p>
        <p>{remedy}</p>
      </Reason>
    );
  }
  if (hold !== null) {
    return (
      <Reason>
        <HoldNote hold={hold} />
        {hold.by !== "tenant" && (
          <Link
            to="/tenants/$tenant/endpoints/$id"
            params={{ tenant: delivery.tenant, id: delivery.endpoint_id }}
            className="underline"
          >
            {t.endpoint}
          </Link>
        )}
      </Reason>
    );
  }
  if (delivery.state !== "failed" || delivery.next_retry_at === null) return null;
  return (
    <Reason>
      <p>
        {t.again} <Ago at={delivery.next_retry_at} />:{" "}
        <Link to="/deliveries/$id" params={{ id: delivery.id }} className="underline">
          {t.attempt}
        </Link>
      </p>
    </Reason>
  );
}

function Reason({ children }: { readonly children: ReactNode }) {
  return <div className="w-full text-sm text-warn">{children}</div>;
}

/** Why an endpoint has no delivery of an event, and what to do about it. */
export function WhyNot({
  event: { tenant, type },
  missed: { reason, pointer },
}: {
  readonly event: Pick<Event, "tenant" | "type">;
  readonly missed: NotMatched;
}) {
  const t = useTexts(texts);
  return (
    <>
      <span>{t.whys[reason](pointer ?? "", type)}</span>
      <p className="w-full text-sm text-muted">
        {t.remedies[reason]}{" "}
        {reason === "tenant_inactive" && (
          <Link to="/tenants/$tenant" params={{ tenant }} className="underline">
            {t.tenant}
          </Link>
        )}
      </p>
    </>
  );
}
