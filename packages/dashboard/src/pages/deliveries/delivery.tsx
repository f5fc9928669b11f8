// A delivery: its state, the next attempt, and all attempts with request and response.
import type { DeliveryDetail } from "@posthorn/client";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { isFinished, useRetry, useWatchedDelivery } from "../../api/deliveries.ts";
import { usePortalTenant } from "../../api/session.ts";
import { useApi } from "../../api/use-api.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts } from "../../app/texts.ts";
import { AttemptTimeline } from "../../components/delivery/attempt-timeline.tsx";
import { CompareAttempts } from "../../components/delivery/compare-attempts.tsx";
import { DeliveryBanner } from "../../components/delivery/delivery-banner.tsx";
import { DeliveryState } from "../../components/delivery/state-badge.tsx";
import { EditAndResend } from "../../components/event/edit-and-resend.tsx";
import { ActionButton } from "../../components/ui/action-button.tsx";
import { Button } from "../../components/ui/button.tsx";
import { CopyButton } from "../../components/ui/copy.tsx";
import { EndpointLink, IdLink, TenantLink } from "../../components/ui/links.tsx";
import { Fact, Facts, NotLoaded, Page, Panel, TimeFact } from "../../components/ui/page.tsx";
import { whole } from "../../format/number.ts";

const t = defineTexts({
  retry: ["Retry now", "Jetzt erneut versuchen"],
  inFlight: ["An attempt is in flight.", "Ein Versuch läuft gerade."],
  over: ["The delivery is finished.", "Die Zustellung ist abgeschlossen."],
  event: ["Event", "Ereignis"],
  delivered: ["Delivered", "Zugestellt"],
  dead: ["Dead-lettered", "Fehlgeschlagen"],
  replays: ["Replayed", "Replays"],
  times: ["{count} {count|time|times}", "{count}-mal"],
  members: ["Events in this batch: {count}", "Ereignisse in diesem Batch: {count}"],
  compare: ["Compare attempts", "Versuche vergleichen"],
  hideComparison: ["Show all attempts", "Alle Versuche anzeigen"],
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
  const { tenant, event_id, event_type, endpoint_name } = delivery;
  const retry = useRetry();
  const retryThis = () => void retry(delivery.id);
  useKeys({ r: retryThis });
  const [isComparing, setComparing] = useState(false);
  const isInFlight = delivery.state === "in_flight";
  const { data: endpoint } = useApi("endpoints.get", { tenant, endpoint: delivery.endpoint_id });
  return (
    <Page
      title={
        <>
          {event_type} → {endpoint_name}
        </>
      }
      lead={
        <span className="flex flex-wrap items-center gap-x-2">
          <DeliveryState delivery={delivery} />
          <code className="font-mono text-xs">{delivery.id}</code>
          <CopyButton text={delivery.id} />
        </span>
      }
      actions={
        <>
          <EditAndResend
            event={event_id}
            type={event_type}
            tenant={tenant}
            endpoint={endpoint === undefined ? undefined : delivery.endpoint_id}
          />
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
      <DeliveryBanner delivery={delivery} endpoint={endpoint} />
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
          {delivery.edited_from !== null && (
            <Fact name={t.editedFrom}>
              {/* the portal has no event page */}
              {isPortal ? (
                <code className="font-mono text-xs">{delivery.edited_from}</code>
              ) : (
                <IdLink to="/events/$id" id={delivery.edited_from} />
              )}
            </Fact>
          )}
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
              {delivery.subject}
              {delivery.sequence !== null && ` #${delivery.sequence}`}
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
      <Panel
        title={t.attempts}
        actions={
          delivery.attempts.length > 1 && (
            <Button aria-expanded={isComparing} onClick={() => setComparing(!isComparing)}>
              {isComparing ? t.hideComparison : t.compare}
            </Button>
          )
        }
      >
        {isComparing ? <CompareAttempts delivery={delivery} /> : <AttemptTimeline delivery={delivery} />}
      </Panel>
    </Page>
  );
}
