// A delivery: its state, the next attempt, and all attempts with request and response.
import type { Attempt, DeliveryDetail } from "@posthorn/client";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { isFinished, useRetry, useWatchedDelivery } from "../../api/deliveries.ts";
import { usePortalTenant } from "../../api/session.ts";
import { useApi } from "../../api/use-api.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts } from "../../app/texts.ts";
import { NextAttempt } from "../../components/delivery/next-attempt.tsx";
import { OutcomeBadge, StateBadge } from "../../components/delivery/state-badge.tsx";
import { Waterfall } from "../../components/delivery/waterfall.tsx";
import { ActionButton } from "../../components/ui/action-button.tsx";
import { Button } from "../../components/ui/button.tsx";
import { CopyButton } from "../../components/ui/copy.tsx";
import { CodeView } from "../../components/ui/json-view.tsx";
import { EndpointLink, IdLink, TenantLink } from "../../components/ui/links.tsx";
import { Fact, Facts, NotLoaded, Page, Panel, TimeFact } from "../../components/ui/page.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { showError } from "../../components/ui/toasts.tsx";
import { curlOf } from "../../format/curl.ts";
import { explain, explanationKey, triggerTexts, whyKeys } from "../../format/delivery-texts.ts";
import { whole } from "../../format/number.ts";
import { duration } from "../../format/time.ts";

const t = defineTexts({
  retry: ["Retry now", "Jetzt erneut versuchen"],
  inFlight: ["An attempt is in flight.", "Ein Versuch läuft gerade."],
  over: ["The delivery is finished.", "Die Zustellung ist abgeschlossen."],
  event: ["Event", "Ereignis"],
  delivered: ["Delivered", "Zugestellt"],
  dead: ["Dead-lettered", "Fehlgeschlagen"],
  replays: ["Replayed", "Replays"],
  times: ["{count} {count|time|times}", "{count}-mal"],
  attempt: ["Attempt {number}", "Versuch {number}"],
  noAttempts: ["No attempts yet.", "Noch keine Versuche."],
  response: ["Response", "Antwort"],
  noResponse: ["No response.", "Keine Antwort."],
  noBody: ["Empty response body.", "Antwort ohne Body."],
  members: ["Events in this batch: {count}", "Ereignisse in diesem Batch: {count}"],
  headers: ["Request headers", "Header der Anfrage"],
  body: ["Request body", "Body der Anfrage"],
  curl: ["Copy as curl, freshly signed", "Als curl kopieren, neu signiert"],
  redacted: ["Redacted: {what}.", "Maskiert: {what}."],
  membersHint: ["Sent together, in this order.", "Werden zusammen in dieser Reihenfolge gesendet."],
});

export function DeliveryPage() {
  const { id = "" } = useParams({ strict: false });
  const query = useWatchedDelivery(id);
  if (query.isPending || query.error !== null) return <NotLoaded query={query} />;
  return <Detail delivery={query.data} />;
}

function Detail({ delivery }: { readonly delivery: DeliveryDetail }) {
  const isPortal = usePortalTenant() !== null;
  const { tenant, event_id, event_type } = delivery;
  const retry = useRetry();
  const retryThis = () => void retry(delivery.id);
  useKeys({ r: retryThis });
  const isInFlight = delivery.state === "in_flight";
  const why = whyKeys(delivery).map((key) => explain(key));
  return (
    <Page
      title={<span className="font-mono text-base">{delivery.id}</span>}
      lead={<StateBadge state={delivery.state} />}
      actions={
        <>
          <CopyButton text={delivery.id} />
          <ActionButton
            icon="dead"
            disabledReason={isInFlight ? t.inFlight : isFinished(delivery) ? t.over : undefined}
            action={() => api.deliveries.cancel({ delivery: delivery.id })}
          >
            {t.cancel}
          </ActionButton>
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
            <Link
              to={isPortal ? "/catalogue/$name" : "/events/$id"}
              params={{ id: event_id, name: event_type }}
              className="underline"
            >
              {event_type}
            </Link>{" "}
            <code className="font-mono text-xs text-muted">{event_id}</code>
          </Fact>
          <Fact name={t.endpoint}>
            <EndpointLink tenant={tenant} id={delivery.endpoint_id} className="break-all underline" />
          </Fact>
          {!isPortal && (
            <Fact name={t.tenant}>
              <TenantLink tenant={tenant} />
            </Fact>
          )}
          {delivery.subject !== null && (
            <Fact name={t.subject}>
              {delivery.subject} #{delivery.sequence}
            </Fact>
          )}
          <TimeFact name={t.created} at={delivery.created_at} />
          <TimeFact name={t.delivered} at={delivery.delivered_at} />
          <TimeFact name={t.dead} at={delivery.dead_at} />
          {delivery.replay_count > 0 && (
            <Fact name={t.replays}>{t.times({ count: delivery.replay_count })}</Fact>
          )}
        </Facts>
      </Panel>
      {delivery.members !== null && (
        <Panel title={t.members({ count: whole(delivery.members.length) })}>
          <p className="pb-2 text-muted">{t.membersHint}</p>
          <ol
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            tabIndex={0}
            className="max-h-60 list-decimal overflow-auto pl-10 font-mono text-xs"
          >
            {delivery.members.map((event) => (
              <li key={event} className="py-0.5 break-all">
                {/* the portal has no event page */}
                {isPortal ? event : <IdLink to="/events/$id" id={event} />}
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
  const [isOpen, setOpen] = useState(isOpenFirst);
  const { what, remedy } = explain(explanationKey(attempt));
  return (
    <li className="rounded-md border border-line">
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="flex flex-wrap items-center gap-2 px-3 py-2">
          <span className="font-medium">{t.attempt({ number: attempt.number })}</span>
          <OutcomeBadge attempt={attempt} />
          <span className="text-muted">{triggerTexts[attempt.trigger]}</span>
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

/** The request as sent, and a freshly signed one as a curl command. */
function RequestView({ delivery, attempt }: { readonly delivery: string; readonly attempt: number }) {
  const query = useApi("deliveries.request", { delivery, query: { attempt } });
  if (query.isPending || query.error !== null) return <NotLoaded query={query} />;
  const { data } = query;
  const fresh = async () => {
    try {
      return curlOf(await api.deliveries.request({ delivery, query: { attempt, fresh: true } }));
    } catch (error) {
      showError(error);
      throw error;
    }
  };
  const lines = Object.entries(data.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div className="flex flex-col gap-2">
      <CodeView label={t.headers} text={[`${data.method} ${data.url}`, ...lines].join("\n")} />
      <CodeView label={t.body} text={data.body} isJson />
      {data.differences.map(({ reason, detail }) => (
        <p key={reason} className="text-xs text-warn">
          {detail}
        </p>
      ))}
      {data.redacted_parts.length > 0 && (
        <p className="text-xs text-muted">{t.redacted({ what: data.redacted_parts.join(", ") })}</p>
      )}
      <CopyButton text={fresh} label={t.curl} />
    </div>
  );
}
