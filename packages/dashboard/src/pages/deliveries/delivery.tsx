// A delivery: its state, the next attempt, and all attempts with request and response.
import type { Attempt, DeliveryDetail } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { useRetry } from "../../api/retry.ts";
import { isFinished, useWatchedDelivery } from "../../api/watched-delivery.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { NextAttempt } from "../../components/delivery/next-attempt.tsx";
import { RequestView } from "../../components/delivery/request-view.tsx";
import { StateBadge } from "../../components/delivery/state-badge.tsx";
import { Waterfall } from "../../components/delivery/waterfall.tsx";
import { EndpointName } from "../../components/endpoint/endpoint-name.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import { CopyButton } from "../../components/ui/copy.tsx";
import { Fact, Facts, Page, Panel } from "../../components/ui/panel.tsx";
import { Failed, Loading } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { explain, explanationKey, triggerTexts, whyKeys } from "../../format/delivery-texts.ts";
import { whole } from "../../format/number.ts";
import { duration } from "../../format/time.ts";

const texts = defineTexts({
  en: {
    retry: "Retry now",
    cancel: "Cancel",
    inFlight: "An attempt is in flight.",
    over: "The delivery is finished.",
    event: "Event",
    endpoint: "Endpoint",
    tenant: "Tenant",
    subject: "Subject",
    created: "Created",
    delivered: "Delivered",
    dead: "Dead since",
    replays: "Replayed",
    times: (count: number) => `${count} times`,
    attempts: "Attempts",
    attempt: (number: number) => `Attempt ${number}`,
    noAttempts: "No attempts yet.",
    response: "Response",
    noResponse: "No response.",
    noBody: "Empty response body.",
    request: "Request",
    members: (count: string) => `Events in this batch: ${count}`,
    membersHint: "Sent together, in this order.",
  },
  de: {
    retry: "Jetzt erneut versuchen",
    cancel: "Abbrechen",
    inFlight: "Ein Versuch läuft gerade.",
    over: "Die Zustellung ist abgeschlossen.",
    event: "Ereignis",
    endpoint: "Endpunkt",
    tenant: "Mandant",
    subject: "Subject",
    created: "Erstellt",
    delivered: "Zugestellt",
    dead: "Fehlgeschlagen",
    replays: "Replays",
    times: (count: number) => `${count}-mal`,
    attempts: "Versuche",
    attempt: (number: number) => `Versuch ${number}`,
    noAttempts: "Noch keine Versuche.",
    response: "Antwort",
    noResponse: "Keine Antwort.",
    noBody: "Antwort ohne Body.",
    request: "Anfrage",
    members: (count: string) => `Ereignisse in diesem Batch: ${count}`,
    membersHint: "Werden zusammen in dieser Reihenfolge gesendet.",
  },
});

/** Links of a delivery, which differ between dashboard and portal. */
export interface DeliveryLinks {
  readonly event: (delivery: DeliveryDetail) => ReactNode;
  readonly endpoint: (delivery: DeliveryDetail) => ReactNode;
  /** An event of a batch. */
  readonly member: (event: string) => ReactNode;
  /** Null in the portal, which shows one tenant. */
  readonly tenant: ((delivery: DeliveryDetail) => ReactNode) | null;
}

const operatorLinks: DeliveryLinks = {
  event: ({ event_id, event_type }) => (
    <Link to="/events/$id" params={{ id: event_id }} className="underline">
      {event_type}
    </Link>
  ),
  endpoint: ({ tenant, endpoint_id }) => (
    <Link
      to="/tenants/$tenant/endpoints/$id"
      params={{ tenant, id: endpoint_id }}
      className="break-all underline"
    >
      <EndpointName tenant={tenant} id={endpoint_id} />
    </Link>
  ),
  member: (event) => (
    <Link to="/events/$id" params={{ id: event }} className="underline">
      {event}
    </Link>
  ),
  tenant: ({ tenant }) => (
    <Link to="/tenants/$tenant" params={{ tenant }} className="underline">
      {tenant}
    </Link>
  ),
};

export function DeliveryPage({ links = operatorLinks }: { readonly links?: DeliveryLinks }) {
  const { id = "" } = useParams({ strict: false });
  const query = useWatchedDelivery(id);
  if (query.isPending) return <Loading />;
  if (query.error !== null) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  return <Detail delivery={query.data} links={links} />;
}

function Detail({ delivery, links }: { readonly delivery: DeliveryDetail; readonly links: DeliveryLinks }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const queries = useQueryClient();
  const retry = useRetry();
  const retryThis = () => void retry(delivery.id);
  useKeys({ r: retryThis });
  const isInFlight = delivery.state === "in_flight";
  const { isBusy, submit } = useSubmission();
  const cancel = async () => {
    await submit(() => api.deliveries.cancel({ delivery: delivery.id }));
    await queries.invalidateQueries();
  };
  const why = whyKeys(delivery).map((key) => explain(key, language));
  return (
    <Page
      title={<span className="font-mono text-base">{delivery.id}</span>}
      lead={<StateBadge state={delivery.state} />}
      actions={
        <>
          <CopyButton text={delivery.id} />
          <Button
            icon="dead"
            isBusy={isBusy}
            disabledReason={isInFlight ? t.inFlight : isFinished(delivery) ? t.over : undefined}
            onClick={() => void cancel()}
          >
            {t.cancel}
          </Button>
          <Button
            kind="primary"
            icon="retry"
            disabledReason={isInFlight ? t.inFlight : undefined}
            onClick={retryThis}
          >
            {t.retry}
          </Button>
        </>
      }
    >
      {why.length > 0 && (
        <div
          role="note"
          className="flex flex-col gap-2 rounded-lg border border-line bg-warn-ground p-4 text-warn"
        >
          {why.map(({ what, remedy }) => (
            <div key={what}>
              <p className="font-semibold">{what}</p>
              <p>{remedy}</p>
            </div>
          ))}
        </div>
      )}
      <NextAttempt delivery={delivery} />
      <Panel>
        <Facts>
          <Fact name={t.event}>
            {links.event(delivery)} <code className="font-mono text-xs text-muted">{delivery.event_id}</code>
          </Fact>
          <Fact name={t.endpoint}>{links.endpoint(delivery)}</Fact>
          {links.tenant !== null && <Fact name={t.tenant}>{links.tenant(delivery)}</Fact>}
          {delivery.subject !== null && (
            <Fact name={t.subject}>
              {delivery.subject} #{delivery.sequence}
            </Fact>
          )}
          <Fact name={t.created}>
            <Ago at={delivery.created_at} />
          </Fact>
          {delivery.delivered_at !== null && (
            <Fact name={t.delivered}>
              <Ago at={delivery.delivered_at} />
            </Fact>
          )}
          {delivery.dead_at !== null && (
            <Fact name={t.dead}>
              <Ago at={delivery.dead_at} />
            </Fact>
          )}
          {delivery.replay_count > 0 && <Fact name={t.replays}>{t.times(delivery.replay_count)}</Fact>}
        </Facts>
      </Panel>
      {delivery.members !== null && (
        <Panel title={t.members(whole(delivery.members.length, language))}>
          <p className="pb-2 text-muted">{t.membersHint}</p>
          <ol
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            tabIndex={0}
            className="max-h-60 list-decimal overflow-auto pl-10 font-mono text-xs"
          >
            {delivery.members.map((event) => (
              <li key={event} className="py-0.5 break-all">
                {links.member(event)}
              </li>
            ))}
          </ol>
        </Panel>
      )}
      <Panel title={t.attempts}>
        {delivery.attempts.length === 0 && <p className="text-muted">{t.noAttempts}</p>}
        <ol className="flex flex-col gap-4">
          {delivery.attempts.toReversed().map((attempt, index) => (
            <AttemptView
              key={attempt.number}
              delivery={delivery.id}
              attempt={attempt}
              isOpenFirst={index === 0}
            />
          ))}
        </ol>
      </Panel>
    </Page>
  );
}

function AttemptView({
  delivery,
  attempt,
  isOpenFirst,
}: {
  readonly delivery: string;
  readonly attempt: Attempt;
  readonly isOpenFirst: boolean;
}) {
  const t = useTexts(texts);
  const triggers = useTexts(triggerTexts);
  const language = useLanguage();
  const [isOpen, setOpen] = useState(isOpenFirst);
  const isDelivered = attempt.status_code !== null && attempt.status_code >= 200 && attempt.status_code < 300;
  const { what, remedy } = explain(explanationKey(attempt), language);
  return (
    <li className="rounded-md border border-line">
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="flex flex-wrap items-center gap-2 px-3 py-2">
          <span className="font-medium">{t.attempt(attempt.number)}</span>
          <Badge tone={isDelivered ? "ok" : "bad"} icon={isDelivered ? "check" : "warning"}>
            {attempt.status_code ?? attempt.error}
          </Badge>
          <span className="text-muted">{triggers[attempt.trigger]}</span>
          <span className="ml-auto flex gap-3 text-muted">
            {attempt.duration_ms !== null && (
              <span className="tabular-nums">{duration(attempt.duration_ms)}</span>
            )}
            {attempt.started_at !== null && <Ago at={attempt.started_at} />}
          </span>
        </summary>
        {isOpen && (
          <div className="flex flex-col gap-3 border-t border-line p-3">
            <p>
              <span className="font-medium">{what}.</span> {remedy}
            </p>
            <Waterfall phases={attempt.phases} />
            <div className="grid gap-3 lg:grid-cols-2">
              <div className="min-w-0">
                <h3 className="pb-1 text-sm font-medium">{t.response}</h3>
                {attempt.response_body === null || attempt.response_body === "" ? (
                  <p className="text-muted">{attempt.status_code === null ? t.noResponse : t.noBody}</p>
                ) : (
                  <pre
                    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
                    tabIndex={0}
                    className="max-h-80 overflow-auto rounded-md border border-line bg-canvas p-3 font-mono text-xs break-words whitespace-pre-wrap"
                  >
                    {attempt.response_body}
                  </pre>
                )}
              </div>
              <div className="min-w-0">
                <h3 className="pb-1 text-sm font-medium">{t.request}</h3>
                <RequestView delivery={delivery} attempt={attempt.number} />
              </div>
            </div>
          </div>
        )}
      </details>
    </li>
  );
}
