// One endpoint: how it does, its secrets, its filter, a test of it, and its settings.
import type { Endpoint } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useMay } from "../../api/session.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { EndpointBadge } from "../../components/endpoint/endpoint-badge.tsx";
import { EndpointFilter } from "../../components/endpoint/filter.tsx";
import { EndpointOverview } from "../../components/endpoint/overview.tsx";
import { EndpointSecrets } from "../../components/endpoint/secrets.tsx";
import { EndpointSettings } from "../../components/endpoint/settings.tsx";
import { EndpointSwitch } from "../../components/endpoint/switch.tsx";
import { TestEvent } from "../../components/endpoint/test-event.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import { Confirm } from "../../components/ui/confirm.tsx";
import { CopyButton } from "../../components/ui/copy.tsx";
import { Page } from "../../components/ui/panel.tsx";
import { Failed, Loading } from "../../components/ui/states.tsx";
import { Tabs, useTab } from "../../components/ui/tabs.tsx";
import { say } from "../../components/ui/toasts.tsx";

const texts = defineTexts({
  en: {
    parts: "Parts of this endpoint",
    overview: "Overview",
    secrets: "Secrets",
    filter: "Filter",
    test: "Test",
    settings: "Settings",
    copyId: "Copy id",
    delete: "Delete",
    deleteTitle: "Delete this endpoint?",
    deleteHint:
      "What it is still owed ends as dead, and its secrets are gone. Its history stays. That cannot be undone.",
    deleted: "The endpoint is deleted.",
    subscription: "WebSub subscription",
    endTitle: "End this subscription?",
    endHint:
      "Its subscriber is told, and gets nothing any more. It can ask for another one as long as the topic is open.",
  },
  de: {
    parts: "Teile dieses Endpunkts",
    overview: "Überblick",
    secrets: "Geheimnisse",
    filter: "Filter",
    test: "Test",
    settings: "Einstellungen",
    copyId: "Id kopieren",
    delete: "Löschen",
    deleteTitle: "Diesen Endpunkt löschen?",
    deleteHint:
      "Was ihm noch zusteht, endet als aufgegeben, und seine Geheimnisse sind weg. Seine Geschichte bleibt. Das lässt sich nicht rückgängig machen.",
    deleted: "Der Endpunkt ist gelöscht.",
    subscription: "WebSub-Abonnement",
    endTitle: "Dieses Abonnement beenden?",
    endHint:
      "Der Abonnent erfährt es und bekommt nichts mehr. Solange das Thema offen ist, kann er ein neues verlangen.",
  },
});

const REFRESH_MS = 5_000;
/** The first is for everybody who may look. */
const TABS = ["overview", "secrets", "filter", "test", "settings"] as const;

/** `portalOf`: whose portal it is; there the tenant is not a place one can go to. */
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
  const mayManage = useMay("webhooks:manage");
  const isSubscription = endpoint.websub !== null;
  const canBeChanged = mayManage && !isSubscription;
  const tabs = (canBeChanged ? TABS : TABS.slice(0, 1)).map((name) => ({ name, title: t[name] }));
  const tab = useTab(tabs);
  const remove = async () => {
    await api.endpoints.delete({ tenant, endpoint: id });
    say(t.deleted);
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
          {mayManage && (
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
