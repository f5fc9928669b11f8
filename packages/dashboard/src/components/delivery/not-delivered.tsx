// Why an endpoint did not receive an event, and what to do about it.
import type { Delivery, Event, NotMatched } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain } from "../../format/delivery-texts.ts";
import { Ago } from "../ui/time.tsx";
import { HoldNote, useHold } from "./next-attempt.tsx";

const texts = defineTexts({
  en: {
    again: "The last attempt failed. Next attempt",
    attempt: "show attempt",
    endpoint: "Open endpoint",
    whys: {
      type: (_: string, type: string) => `Not subscribed to ${type}.`,
      filter: (pointer: string) => `The filter condition at ${pointer} did not match.`,
      filter_hidden: () => "The filter uses redacted data, so its result is not shown.",
      created_later: () => "Created after the event.",
      deleted: () => "Deleted since.",
      test: () => "Test events go to a single endpoint.",
      batch: () => "A batch goes only to the endpoint it was collected for.",
      lease_ended: () => "The WebSub subscription had expired.",
      about_itself: () => "Notifications about an endpoint are not sent to that endpoint.",
      waiting: () => "The event is stored. Its deliveries have not been created yet.",
      tenant_inactive: () => "The tenant is inactive.",
      matches_now: () =>
        "The current settings match the event. The endpoint was changed since, the tenant was inactive, or the delivery was deleted or has passed its retention period.",
    } satisfies Record<NotMatched["reason"], (pointer: string, type: string) => string>,
    tenant: "Open tenant",
    remedies: {
      type: "Add the type to the endpoint's event types, then replay missed events.",
      filter: "If it should receive this event, change the filter, then replay missed events.",
      filter_hidden: "Users with the scope payloads:read can see the result.",
      created_later: "Replay missed events to deliver it.",
      deleted: "Create a new endpoint, then replay missed events.",
      test: "To test this endpoint, send a test event from its page.",
      about_itself: "The tenant's other endpoints receive the notification.",
      waiting: "Check again in a moment.",
      tenant_inactive: "Activate the tenant, then replay missed events.",
      matches_now: "Replay missed events to deliver it.",
      batch: "No action is needed.",
      lease_ended: "The subscriber must subscribe again.",
    } satisfies Record<NotMatched["reason"], string>,
  },
  de: {
    again: "Der letzte Versuch ist fehlgeschlagen. Nächster Versuch",
    attempt: "Versuch anzeigen",
    endpoint: "Endpunkt öffnen",
    whys: {
      type: (_: string, type: string) => `${type} ist nicht abonniert.`,
      filter: (pointer: string) => `Die Filterbedingung bei ${pointer} trifft nicht zu.`,
      filter_hidden: () => "Der Filter verwendet maskierte Daten; das Ergebnis wird nicht angezeigt.",
      created_later: () => "Nach dem Ereignis erstellt.",
      deleted: () => "Inzwischen gelöscht.",
      test: () => "Testereignisse gehen an einen einzelnen Endpunkt.",
      batch: () => "Ein Batch geht nur an den Endpunkt, für den er gesammelt wurde.",
      lease_ended: () => "Das WebSub-Abonnement war abgelaufen.",
      about_itself: () => "Benachrichtigungen über einen Endpunkt werden nicht an ihn selbst gesendet.",
      waiting: () => "Das Ereignis ist gespeichert. Seine Zustellungen sind noch nicht angelegt.",
      tenant_inactive: () => "Der Mandant ist inaktiv.",
      matches_now: () =>
        "Die aktuellen Einstellungen treffen auf das Ereignis zu. Der Endpunkt wurde inzwischen geändert, der Mandant war inaktiv, oder die Zustellung wurde gelöscht oder nach Ablauf der Aufbewahrungsfrist entfernt.",
    },
    tenant: "Mandanten öffnen",
    remedies: {
      type: "Den Typ beim Endpunkt ergänzen, dann verpasste Ereignisse per Replay zustellen.",
      filter: "Falls nicht beabsichtigt: Filter ändern, dann verpasste Ereignisse per Replay zustellen.",
      filter_hidden: "Benutzer mit der Berechtigung payloads:read sehen das Ergebnis.",
      created_later: "Verpasste Ereignisse per Replay zustellen.",
      deleted: "Neuen Endpunkt erstellen, dann verpasste Ereignisse per Replay zustellen.",
      test: "Zum Testen dieses Endpunkts ein Testereignis auf seiner Seite senden.",
      about_itself: "Die anderen Endpunkte des Mandanten erhalten die Benachrichtigung.",
      waiting: "Bitte gleich noch einmal prüfen.",
      tenant_inactive: "Den Mandanten aktivieren, dann verpasste Ereignisse per Replay zustellen.",
      matches_now: "Verpasste Ereignisse per Replay zustellen.",
      batch: "Es ist nichts zu tun.",
      lease_ended: "Der Abonnent muss erneut abonnieren.",
    },
  },
});

/** Renders nothing for a delivery without problems. */
export function WhyNotYet({ delivery }: { readonly delivery: Delivery }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const hold = useHold(delivery);
  if (delivery.dead_reason !== null) {
    const { what, remedy } = explain(delivery.dead_reason, language);
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

/** Why an endpoint has no delivery of an event. */
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
