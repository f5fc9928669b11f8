// Why an endpoint did not receive an event, and what to do about it.
import type { Delivery, Event, NotMatched } from "@posthorn/client";
import type { ReactNode } from "react";
import { defineTexts } from "../../app/texts.ts";
import { explain } from "../../format/delivery-texts.ts";
import { EndpointLink, IdLink, TenantLink } from "../ui/links.tsx";
import { Until } from "../ui/time.tsx";
import { WaitNote } from "./wait-note.tsx";

const t = defineTexts({
  again: ["The last attempt failed. Next attempt", "Der letzte Versuch ist fehlgeschlagen. Nächster Versuch"],
  attempt: ["show attempt", "Versuch anzeigen"],
  whys: {
    type: ["Not subscribed to {type}.", "{type} ist nicht abonniert."],
    filter: [
      "The filter condition at {pointer} did not match.",
      "Die Filterbedingung bei {pointer} trifft nicht zu.",
    ],
    filter_redacted: [
      "The filter uses redacted data, so its result is not shown.",
      "Der Filter verwendet maskierte Daten; das Ergebnis wird nicht angezeigt.",
    ],
    created_later: ["Created after the event.", "Nach dem Ereignis erstellt."],
    deleted: ["Deleted in the meantime.", "Inzwischen gelöscht."],
    test: ["Test events go to a single endpoint.", "Testereignisse gehen an einen einzelnen Endpunkt."],
    batch: [
      "A batch goes only to the endpoint it was collected for.",
      "Ein Batch geht nur an den Endpunkt, für den er gesammelt wurde.",
    ],
    lease_expired: ["The WebSub subscription had expired.", "Das WebSub-Abonnement war abgelaufen."],
    about_itself: [
      "Notifications about an endpoint are not sent to that endpoint.",
      "Benachrichtigungen über einen Endpunkt werden nicht an ihn selbst gesendet.",
    ],
    waiting: [
      "The event is stored. Its deliveries have not been created yet.",
      "Das Ereignis ist gespeichert. Seine Zustellungen sind noch nicht angelegt.",
    ],
    rejected: ["The catalogue rejected the event.", "Der Katalog hat das Ereignis abgelehnt."],
    tenant_inactive: ["The tenant is inactive.", "Der Mandant ist inaktiv."],
    dropped: [
      "Delivery was off, and events published then were dropped.",
      "Die Zustellung war ausgeschaltet; in dieser Zeit veröffentlichte Ereignisse wurden verworfen.",
    ],
    matches_now: [
      "The current settings match the event. The endpoint has been changed since, the tenant was inactive, or the delivery was deleted or has passed its retention period.",
      "Das Ereignis passt zu den aktuellen Einstellungen. Der Endpunkt wurde inzwischen geändert, der Mandant war inaktiv, oder die Zustellung wurde gelöscht oder nach Ablauf der Aufbewahrungsfrist entfernt.",
    ],
  },
  tenant: ["Open tenant", "Mandanten öffnen"],
  remedies: {
    type: [
      "Add the type to the endpoint's event types, then replay missed events.",
      "Den Typ beim Endpunkt ergänzen, dann verpasste Ereignisse per Replay zustellen.",
    ],
    filter: [
      "If it should receive this event, change the filter, then replay missed events.",
      "Falls nicht beabsichtigt: Filter ändern, dann verpasste Ereignisse per Replay zustellen.",
    ],
    filter_redacted: [
      "Users with the scope payloads:read can see the result.",
      "Benutzer mit der Berechtigung payloads:read sehen das Ergebnis.",
    ],
    created_later: ["Replay missed events to deliver it.", "Verpasste Ereignisse per Replay zustellen."],
    deleted: [
      "Create a new endpoint, then replay missed events.",
      "Neuen Endpunkt erstellen, dann verpasste Ereignisse per Replay zustellen.",
    ],
    test: [
      "To test this endpoint, send a test event from its page.",
      "Zum Testen dieses Endpunkts ein Testereignis auf seiner Seite senden.",
    ],
    about_itself: [
      "The tenant's other endpoints receive the notification.",
      "Die anderen Endpunkte des Mandanten erhalten die Benachrichtigung.",
    ],
    rejected: ["Release the event to deliver it.", "Das Ereignis freigeben, um es zuzustellen."],
    waiting: ["Check again in a moment.", "Bitte gleich noch einmal prüfen."],
    tenant_inactive: [
      "Activate the tenant, then replay missed events.",
      "Den Mandanten aktivieren, dann verpasste Ereignisse per Replay zustellen.",
    ],
    dropped: ["Replay missed events to deliver it.", "Verpasste Ereignisse per Replay zustellen."],
    matches_now: ["Replay missed events to deliver it.", "Verpasste Ereignisse per Replay zustellen."],
    batch: ["No action is needed.", "Es ist nichts zu tun."],
    lease_expired: ["The subscriber must subscribe again.", "Der Abonnent muss erneut abonnieren."],
  },
});

/** Renders nothing for a delivery without problems. */
export function WhyNotYet({ delivery }: { readonly delivery: Delivery }) {
  const { waits_for: waits } = delivery;
  if (delivery.dead_reason !== null) {
    const { what, remedy } = explain(delivery.dead_reason);
    return (
      <Reason>
        <p className="font-medium">{what}.</p>
        <p>{remedy}</p>
      </Reason>
    );
  }
  if (waits === null) return null;
  if (waits.reason !== "retry_delay" || waits.until === null) {
    return (
      <Reason>
        <WaitNote waits={waits} />
        {waits.reason !== "tenant_off" && (
          <EndpointLink tenant={delivery.tenant} id={delivery.endpoint_id}>
            {t.openEndpoint}
          </EndpointLink>
        )}
      </Reason>
    );
  }
  return (
    <Reason>
      <p>
        {t.again} <Until at={waits.until} />:{" "}
        <IdLink to="/deliveries/$id" id={delivery.id}>
          {t.attempt}
        </IdLink>
      </p>
    </Reason>
  );
}

function Reason({ children }: { readonly children: ReactNode }) {
  return <div className="w-full text-sm text-warn">{children}</div>;
}

export function WhyNot({
  event: { tenant, type },
  missed: { reason, pointer },
}: {
  readonly event: Pick<Event, "tenant" | "type">;
  readonly missed: NotMatched;
}) {
  const why = t.whys[reason];
  return (
    <>
      <span>{typeof why === "string" ? why : why({ pointer: pointer ?? "", type })}</span>
      <p className="w-full text-sm text-muted">
        {t.remedies[reason]}{" "}
        {reason === "tenant_inactive" && <TenantLink tenant={tenant}>{t.tenant}</TenantLink>}
      </p>
    </>
  );
}
