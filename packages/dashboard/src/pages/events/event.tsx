// An event: its data, its deliveries, the endpoints it did not match, and the diff to the previous event of its subject.
import type { Delivery, EventDetail, NotMatched } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api, isStatus } from "../../api/client.ts";
import { isFinished } from "../../api/watched-delivery.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { WhyNot, WhyNotYet } from "../../components/delivery/not-delivered.tsx";
import { StateBadge } from "../../components/delivery/state-badge.tsx";
import { EndpointName } from "../../components/endpoint/endpoint-name.tsx";
import { CloudEvent, EncodingHint } from "../../components/event/cloud-event.tsx";
import { MissingEventHelp } from "../../components/event/missing-event-help.tsx";
import { Button } from "../../components/ui/button.tsx";
import { CopyButton } from "../../components/ui/copy.tsx";
import { Diff } from "../../components/ui/diff.tsx";
import { JsonView } from "../../components/ui/json-view.tsx";
import { Fact, Facts, Page, Panel } from "../../components/ui/panel.tsx";
import { Failed, Loading } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";

const texts = defineTexts({
  en: {
    tenant: "Tenant",
    subject: "Subject",
    version: "API version",
    created: "Created",
    data: "Data",
    got: "Deliveries",
    unmatched: "The event matched no endpoint.",
    attempts: (count: number) => (count === 1 ? "1 attempt" : `${count} attempts`),
    inBatch: "in a batch:",
    batchWaits: "Waiting to be sent in a batch.",
    notMatched: "Not delivered to",
    all: "The event matched every endpoint of the tenant.",
    noEndpoint: "The tenant had no endpoint.",
    compare: "Compare with previous event",
    hideDiff: "Hide comparison",
    before: "Changes since the previous event of this subject",
  },
  de: {
    tenant: "Mandant",
    subject: "Subject",
    version: "API-Version",
    created: "Erstellt",
    data: "Daten",
    got: "Zustellungen",
    unmatched: "Das Ereignis passte zu keinem Endpunkt.",
    attempts: (count: number) => (count === 1 ? "1 Versuch" : `${count} Versuche`),
    inBatch: "in einem Batch:",
    batchWaits: "Wartet auf den Versand in einem Batch.",
    notMatched: "Nicht zugestellt an",
    all: "Das Ereignis passte zu allen Endpunkten des Mandanten.",
    noEndpoint: "Der Mandant hatte keinen Endpunkt.",
    compare: "Mit vorherigem Ereignis vergleichen",
    hideDiff: "Vergleich ausblenden",
    before: "Änderungen seit dem vorherigen Ereignis dieses Subjects",
  },
});

const REFRESH_MS = 3_000;

export function EventPage() {
  const { id = "" } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ["event", id],
    queryFn: ({ signal }) => api.events.get({ event: id, signal }),
    refetchInterval: ({ state }) => (isSettled(state.data) ? false : REFRESH_MS),
  });
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
  if (event === undefined) return false;
  return event.deliveries.every(isFinished) && waitingBatches(event).length === 0;
}

/** Batches that still collect events. */
function waitingBatches({ batches }: EventDetail): EventDetail["batches"] {
  return batches.filter(({ event_id }) => event_id === null);
}

function Detail({ event }: { readonly event: EventDetail }) {
  const t = useTexts(texts);
  const [showsDiff, setShowsDiff] = useState(false);
  const waiting = waitingBatches(event);
  const wentNowhere = event.deliveries.length === 0 && waiting.length === 0;
  return (
    <Page
      title={<code className="font-mono">{event.type}</code>}
      lead={<code className="font-mono text-xs">{event.id}</code>}
      actions={
        <>
          <CopyButton text={event.id} />
          {event.previous !== null && (
            <Button onClick={() => setShowsDiff(!showsDiff)}>{showsDiff ? t.hideDiff : t.compare}</Button>
          )}
        </>
      }
    >
      <Panel>
        <Facts>
          <Fact name={t.tenant}>
            <Link to="/tenants/$tenant" params={{ tenant: event.tenant }} className="underline">
              {event.tenant}
            </Link>
          </Fact>
          {event.subject !== null && (
            <Fact name={t.subject}>
              <Link
                to="/events"
                search={{ tenant: event.tenant, subject: event.subject }}
                className="underline"
              >
                {event.subject}
              </Link>{" "}
              #{event.sequence}
            </Fact>
          )}
          <Fact name={t.version}>{event.api_version}</Fact>
          <Fact name={t.created}>
            <Ago at={event.created_at} />
          </Fact>
        </Facts>
      </Panel>
      {showsDiff && event.previous !== null && (
        <Panel title={t.before}>
          <Diff previous={event.previous} data={event.data} />
        </Panel>
      )}
      <Panel title={t.got}>
        {wentNowhere && <p className="text-muted">{t.unmatched}</p>}
        <ul className="flex flex-col gap-2">
          {event.deliveries.map((delivery) => (
            <DeliveryItem key={delivery.id} delivery={delivery} isInBatch={delivery.event_id !== event.id} />
          ))}
          {waiting.map(({ endpoint_id }) => (
            <li key={endpoint_id} className="flex flex-wrap items-center gap-2 border-l-2 border-line pl-3">
              <StateBadge state="pending" />
              <EndpointLink tenant={event.tenant} id={endpoint_id} />
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
        <EncodingHint attributes={event.attributes} />
        <JsonView value={event.data} label={t.data} />
      </Panel>
    </Page>
  );
}

/** A delivery of the event. */
function DeliveryItem({ delivery, isInBatch }: { readonly delivery: Delivery; readonly isInBatch: boolean }) {
  const t = useTexts(texts);
  return (
    <li className="flex flex-wrap items-center gap-2 border-l-2 border-line pl-3">
      <StateBadge state={delivery.state} />
      <EndpointLink tenant={delivery.tenant} id={delivery.endpoint_id} />
      {isInBatch && <span className="text-muted">{t.inBatch}</span>}
      <Link
        to="/deliveries/$id"
        params={{ id: delivery.id }}
        className="font-mono text-xs text-muted underline"
      >
        {delivery.id}
      </Link>
      <span className="text-muted">{t.attempts(delivery.attempt_count)}</span>
      {delivery.next_retry_at !== null && (
        <span className="ml-auto text-muted">
          <Ago at={delivery.next_retry_at} />
        </span>
      )}
      <WhyNotYet delivery={delivery} />
    </li>
  );
}

function EndpointLink({ tenant, id }: { readonly tenant: string; readonly id: string }) {
  return (
    <Link to="/tenants/$tenant/endpoints/$id" params={{ tenant, id }} className="min-w-0 break-all underline">
      <EndpointName tenant={tenant} id={id} />
    </Link>
  );
}

/** The tab on which the reason can be fixed. */
const TAB_OF: { readonly [Reason in NotMatched["reason"]]?: { readonly tab: string } } = {
  type: { tab: "settings" },
  filter: { tab: "filter" },
};

function Missed({ event, endpoint }: { readonly event: EventDetail; readonly endpoint: NotMatched }) {
  const { tenant } = event;
  return (
    <li className="flex flex-wrap items-baseline gap-2 border-l-2 border-line pl-3">
      <Link
        to="/tenants/$tenant/endpoints/$id"
        params={{ tenant, id: endpoint.endpoint_id }}
        search={TAB_OF[endpoint.reason] ?? {}}
        className="min-w-0 break-all underline"
      >
        <EndpointName tenant={tenant} id={endpoint.endpoint_id} />
      </Link>
      <WhyNot event={event} missed={endpoint} />
    </li>
  );
}
