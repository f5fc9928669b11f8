// An endpoint: overview, secrets, filter, test and settings.
import type { Endpoint } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useHasScope } from "../../api/session.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { EndpointSwitch } from "../../components/endpoint/activation.tsx";
import { EndpointBadge } from "../../components/endpoint/endpoint-badge.tsx";
import { EndpointFilter } from "../../components/endpoint/filter.tsx";
import { EndpointOverview } from "../../components/endpoint/overview.tsx";
import { EndpointSecrets } from "../../components/endpoint/secrets.tsx";
import { EndpointSettings } from "../../components/endpoint/settings.tsx";
import { TestEvent } from "../../components/endpoint/test-event.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import { Confirm } from "../../components/ui/confirm.tsx";
import { CopyButton } from "../../components/ui/copy.tsx";
import { Page } from "../../components/ui/panel.tsx";
import { Failed, Loading } from "../../components/ui/states.tsx";
import { Tabs, useTab } from "../../components/ui/tabs.tsx";
import { showToast } from "../../components/ui/toasts.tsx";

const texts = defineTexts({
  en: {
    parts: "Endpoint",
    overview: "Overview",
    secrets: "Secrets",
    filter: "Filter",
    test: "Test",
    settings: "Settings",
    copyId: "Copy id",
    delete: "Delete",
    deleteTitle: "Delete this endpoint?",
    deleteHint:
      "Its backlog becomes dead letters and its secrets are deleted. The delivery history is kept. This cannot be undone.",
    deleted: "Endpoint deleted.",
    subscription: "WebSub subscription",
    endTitle: "End this subscription?",
    endHint:
      "The subscriber is notified and receives no further events. It can subscribe again while the topic is public.",
  },
  de: {
    parts: "Endpunkt",
    overview: "Überblick",
    secrets: "Secrets",
    filter: "Filter",
    test: "Test",
    settings: "Einstellungen",
    copyId: "ID kopieren",
    delete: "Löschen",
    deleteTitle: "Diesen Endpunkt löschen?",
    deleteHint:
      "Der Rückstand wird zu Dead Letters, die Secrets werden gelöscht. Der Verlauf der Zustellungen bleibt erhalten. Das lässt sich nicht rückgängig machen.",
    deleted: "Endpunkt gelöscht.",
    subscription: "WebSub-Abonnement",
    endTitle: "Dieses Abonnement beenden?",
    endHint:
      "Der Abonnent wird benachrichtigt und erhält keine weiteren Ereignisse. Solange das Topic öffentlich ist, kann er erneut abonnieren.",
  },
});

const REFRESH_MS = 5_000;
/** The first tab needs no permission to manage endpoints. */
const TABS = ["overview", "secrets", "filter", "test", "settings"] as const;

/** `portalOf` is the portal's tenant; the portal has no tenant pages. */
export function EndpointPage({ portalOf }: { readonly portalOf?: string }) {
  const { tenant = portalOf ?? "", id = "" } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ["endpoint", id],
    queryFn: ({ signal }) => api.endpoints.get({ tenant, endpoint: id, signal }),
    refetchInterval: REFRESH_MS,
  });
  if (query.data !== undefined) return <Detail endpoint={query.data} isPortal={portalOf !== undefined} />;
  if (query.error === null) return <Loading />;
  return <Failed error={query.error} onRetry={() => void query.refetch()} />;
}

function Detail({ endpoint, isPortal }: { readonly endpoint: Endpoint; readonly isPortal: boolean }) {
  const t = useTexts(texts);
  const { tenant, id } = endpoint;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [isDeleting, setDeleting] = useState(false);
  const canManage = useHasScope("webhooks:manage");
  const isSubscription = endpoint.websub !== null;
  const canBeChanged = canManage && !isSubscription;
  const tabs = (canBeChanged ? TABS : TABS.slice(0, 1)).map((name) => ({ name, title: t[name] }));
  const tab = useTab(tabs);
  const remove = async () => {
    await api.endpoints.delete({ tenant, endpoint: id });
    showToast(t.deleted);
    await (isPortal ? navigate({ to: "/" }) : navigate({ to: "/tenants/$tenant", params: { tenant } }));
    queries.removeQueries({ queryKey: ["endpoint", id] });
    await queries.invalidateQueries();
  };
  return (
    <Page
      title={<span className="font-mono text-base break-all">{endpoint.url}</span>}
      lead={
        <span className="flex flex-wrap items-center gap-2">
          <EndpointBadge endpoint={endpoint} />
          {isSubscription && <Badge tone="plain">{t.subscription}</Badge>}
          {!isPortal && (
            <Link to="/tenants/$tenant" params={{ tenant }} className="underline">
              {tenant}
            </Link>
          )}
          {endpoint.description}
        </span>
      }
      actions={
        <>
          <CopyButton text={id} label={t.copyId} />
          {canBeChanged && <EndpointSwitch endpoint={endpoint} />}
          {canManage && (
            <Button kind="danger" onClick={() => setDeleting(true)}>
              {t.delete}
            </Button>
          )}
        </>
      }
    >
      {tabs.length > 1 && <Tabs label={t.parts} tabs={tabs} />}
      {tab === "overview" && <EndpointOverview endpoint={endpoint} />}
      {tab === "secrets" && <EndpointSecrets endpoint={endpoint} />}
      {tab === "filter" && <EndpointFilter endpoint={endpoint} />}
      {tab === "test" && <TestEvent endpoint={endpoint} />}
      {tab === "settings" && <EndpointSettings endpoint={endpoint} />}
      {isDeleting && (
        <Confirm
          title={isSubscription ? t.endTitle : t.deleteTitle}
          action={t.delete}
          typed={new URL(endpoint.url).host}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>{isSubscription ? t.endHint : t.deleteHint}</p>
        </Confirm>
      )}
    </Page>
  );
}
