// An event: its data, its deliveries, the endpoints it did not match, and the diff to the previous event of its subject.
import type { Delivery, Event, EventDetail, NotMatched } from "@posthorn/client";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { isStatus } from "../../api/client.ts";
import { isFinished } from "../../api/deliveries.ts";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { WhyNot, WhyNotYet } from "../../components/delivery/not-delivered.tsx";
import { StateBadge } from "../../components/delivery/state-badge.tsx";
import { EditAndResend } from "../../components/event/edit-and-resend.tsx";
import { MissingEventHelp } from "../../components/event/missing-event-help.tsx";
import { Rejection } from "../../components/event/rejection.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import { CopyButton } from "../../components/ui/copy.tsx";
import { JsonView } from "../../components/ui/json-view.tsx";
import { EndpointLink, IdLink, TenantLink } from "../../components/ui/links.tsx";
import { Fact, Facts, Failed, Loading, NotLoaded, Page, Panel, TimeFact } from "../../components/ui/page.tsx";
import { differences } from "../../format/differences.ts";

const t = defineTexts({
  version: ["API version", "API-Version"],
  attempts: ["{count} {count|attempt|attempts}", "{count} {count|Versuch|Versuche}"],
  none: ["The event was not delivered.", "Das Ereignis wurde nicht zugestellt."],
  inBatch: ["in a batch:", "in einem Batch:"],
  batchWaits: ["Waiting to be sent in a batch.", "Wartet auf den Versand in einem Batch."],
  notMatched: ["Not delivered to", "Nicht zugestellt an"],
  all: [
    "The event matched every endpoint of the tenant.",
    "Das Ereignis passte zu allen Endpunkten des Mandanten.",
  ],
  noEndpoint: ["The tenant had no endpoint.", "Der Mandant hatte keinen Endpunkt."],
  compare: ["Compare with previous event", "Mit vorherigem Ereignis vergleichen"],
  hideDiff: ["Hide comparison", "Vergleich ausblenden"],
  before: [
    "Changes since the previous event of this subject",
    "Änderungen seit dem vorherigen Ereignis dieses Subjects",
  ],
  same: ["No differences.", "Keine Unterschiede."],
  added: ["added", "hinzugefügt"],
  removed: ["removed", "entfernt"],
  changed: ["changed", "geändert"],
  more: ["Only the first 200 differences are shown.", "Nur die ersten 200 Unterschiede werden angezeigt."],
  attributes: ["CloudEvent attributes", "CloudEvent-Attribute"],
  encoding: {
    text: ["Text, not JSON.", "Text, kein JSON."],
    base64: ["Binary data, shown as base64.", "Binärdaten, als Base64 dargestellt."],
    none: ["No data.", "Keine Daten."],
  },
});

const REFRESH_MS = 3_000;
const ENDPOINT = "min-w-0 break-all underline";

export function EventPage() {
  const { id = "" } = useParams({ strict: false });
  const query = useApi(
    "events.get",
    { event: id },
    { refetchInterval: ({ state }) => (isSettled(state.data) ? false : REFRESH_MS) },
  );
  if (query.isPending) return <Loading />;
  if (query.error !== null) {
    return (
      <>
        <Failed error={query.error} onRetry={() => void query.refetch()} />
        {isStatus(query.error, 404) && <MissingEventHelp />}
      </>
    );
  }
  return <Detail event={query.data} />;
}

function isSettled(event: EventDetail | undefined): boolean {
  if (event === undefined || isBeingReleased(event)) return false;
  return event.deliveries.every(isFinished) && waitingBatches(event).length === 0;
}

/** Its deliveries have not been created yet. */
function isBeingReleased({ deliveries, not_matched }: EventDetail): boolean {
  return deliveries.length === 0 && not_matched.some(({ reason }) => reason === "waiting");
}

/** Batches that still collect events. */
function waitingBatches({ batches }: EventDetail): EventDetail["batches"] {
  return batches.filter(({ event_id }) => event_id === null);
}

function Detail({ event }: { readonly event: EventDetail }) {
  const [showsDiff, setShowsDiff] = useState(false);
  const waiting = waitingBatches(event);
  const wentNowhere = event.deliveries.length === 0 && waiting.length === 0;
  // whether it would have matched an endpoint is then unknown
  const wasStopped = event.not_matched.some(({ reason }) => reason === "rejected" || reason === "dropped");
  return (
    <Page
      title={<code className="font-mono">{event.type}</code>}
      lead={<code className="font-mono text-xs">{event.id}</code>}
      actions={
        <>
          <CopyButton text={event.id} />
          <EditAndResend
            event={event.id}
            type={event.type}
            tenant={event.tenant}
            endpoint={event.deliveries[0]?.endpoint_id}
          />
          {event.previous !== null && (
            <Button onClick={() => setShowsDiff(!showsDiff)}>{showsDiff ? t.hideDiff : t.compare}</Button>
          )}
        </>
      }
    >
      {event.rejection !== null && <Rejection id={event.id} rejection={event.rejection} />}
      <Panel>
        <Facts>
          <Fact name={t.tenant}>
            <TenantLink tenant={event.tenant} />
          </Fact>
          {event.subject !== null && (
            <Fact name={t.subject}>
              <Link
                to="/events"
                search={{ tenant: event.tenant, subject: event.subject }}
                className="underline"
              >
                {event.subject}
              </Link>
              {event.sequence !== null && ` #${event.sequence}`}
            </Fact>
          )}
          {event.edited_from !== null && (
            <Fact name={t.editedFrom}>
              <IdLink to="/events/$id" id={event.edited_from} />
            </Fact>
          )}
          <Fact name={t.version}>{event.api_version}</Fact>
          <TimeFact name={t.created} at={event.created_at} />
        </Facts>
      </Panel>
      {showsDiff && event.previous !== null && (
        <Panel title={t.before}>
          <Diff previous={event.previous} data={event.data} />
        </Panel>
      )}
      <Panel title={t.deliveries}>
        {wentNowhere && <p className="text-muted">{wasStopped ? t.none : t.eventMatchedNone}</p>}
        <ul className="flex flex-col gap-2">
          {event.deliveries.map((delivery) => (
            <DeliveryItem key={delivery.id} delivery={delivery} isInBatch={delivery.event_id !== event.id} />
          ))}
          {waiting.map(({ endpoint_id }) => (
            <li key={endpoint_id} className="flex flex-wrap items-center gap-2 border-l-2 border-line pl-3">
              <StateBadge state="pending" />
              <EndpointLink tenant={event.tenant} id={endpoint_id} className={ENDPOINT} />
              <span className="text-muted">{t.batchWaits}</span>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title={t.notMatched}>
        {event.not_matched.length === 0 && <p className="text-muted">{wentNowhere ? t.noEndpoint : t.all}</p>}
        <ul className="flex flex-col gap-2">
          {event.not_matched.map((endpoint) => (
            <Missed key={endpoint.endpoint_id} event={event} endpoint={endpoint} />
          ))}
        </ul>
      </Panel>
      {event.attributes !== null && <CloudEvent attributes={event.attributes} />}
      <Panel title={t.data}>
        {event.attributes?.encoding && (
          <p className="pb-2 text-muted">{t.encoding[event.attributes.encoding]}</p>
        )}
        <JsonView value={event.data} label={t.data} />
      </Panel>
    </Page>
  );
}

function DeliveryItem({ delivery, isInBatch }: { readonly delivery: Delivery; readonly isInBatch: boolean }) {
  return (
    <li className="flex flex-wrap items-center gap-2 border-l-2 border-line pl-3">
      <StateBadge state={delivery.state} />
      <EndpointLink tenant={delivery.tenant} id={delivery.endpoint_id} className={ENDPOINT} />
      {isInBatch && <span className="text-muted">{t.inBatch}</span>}
      <IdLink to="/deliveries/$id" id={delivery.id} className="font-mono text-xs text-muted underline" />
      <span className="text-muted">{t.attempts({ count: delivery.attempt_count })}</span>
      <WhyNotYet delivery={delivery} />
    </li>
  );
}

/** The tab on which the reason can be fixed. */
const TAB_OF: { readonly [Reason in NotMatched["reason"]]?: { readonly tab: string } } = {
  type: { tab: "settings" },
  filter: { tab: "filter" },
};

function Missed({ event, endpoint }: { readonly event: EventDetail; readonly endpoint: NotMatched }) {
  return (
    <li className="flex flex-wrap items-baseline gap-2 border-l-2 border-line pl-3">
      <EndpointLink
        tenant={event.tenant}
        id={endpoint.endpoint_id}
        search={TAB_OF[endpoint.reason] ?? {}}
        className={ENDPOINT}
      />
      <WhyNot event={event} missed={endpoint} />
    </li>
  );
}

const MAX_SHOWN = 200;

/** The differences between an event's data and the previous event of its subject. */
function Diff({ previous, data }: { readonly previous: string; readonly data: unknown }) {
  const query = useApi("events.get", { event: previous });
  if (query.isPending || query.error !== null) return <NotLoaded query={query} />;
  const found = differences(query.data.data, data, MAX_SHOWN + 1);
  if (found.length === 0) return <p className="text-muted">{t.same}</p>;
  return (
    <>
      <ul className="flex flex-col gap-1 font-mono text-xs">
        {found.slice(0, MAX_SHOWN).map(({ pointer, kind, before, after }) => (
          <li key={pointer} className="flex flex-wrap items-baseline gap-2 break-all">
            <Badge tone={kind === "added" ? "ok" : kind === "removed" ? "bad" : "warn"}>{t[kind]}</Badge>
            <span>{pointer === "" ? "/" : pointer}</span>
            {kind !== "added" && <del className="text-bad">{JSON.stringify(before)}</del>}
            {kind !== "removed" && <ins className="text-ok">{JSON.stringify(after)}</ins>}
          </li>
        ))}
      </ul>
      {found.length > MAX_SHOWN && <p className="pt-2 text-muted">{t.more}</p>}
    </>
  );
}

/** The attributes of an event that was published as a CloudEvent. */
function CloudEvent({ attributes }: { readonly attributes: NonNullable<Event["attributes"]> }) {
  const { extensions, encoding: _ofData, ...core } = attributes;
  return (
    <Panel title={t.attributes}>
      <Facts>
        {Object.entries({ ...core, ...extensions }).map(([name, value]) => (
          <Fact key={name} name={name}>
            <code className="font-mono text-xs break-all">{String(value)}</code>
          </Fact>
        ))}
      </Facts>
    </Panel>
  );
}
