// An endpoint: overview, secrets, filter, test and settings.
import type { Endpoint } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useHasScope, usePortalTenant } from "../../api/session.ts";
import { apiKey, useApi } from "../../api/use-api.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { EndpointSwitch } from "../../components/endpoint/activation.tsx";
import { EndpointBadge } from "../../components/endpoint/endpoint-columns.tsx";
import { EndpointFilter } from "../../components/endpoint/filter.tsx";
import { EndpointOverview } from "../../components/endpoint/overview.tsx";
import { EndpointSecrets } from "../../components/endpoint/secrets.tsx";
import { EndpointSettings } from "../../components/endpoint/settings.tsx";
import { TestEvent } from "../../components/endpoint/test-event.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { CopyButton } from "../../components/ui/copy.tsx";
import { ConfirmButton } from "../../components/ui/dialog.tsx";
import { TenantLink } from "../../components/ui/links.tsx";
import { NotLoaded, Page } from "../../components/ui/page.tsx";
import { showToast } from "../../components/ui/toasts.tsx";
import { EndpointContract } from "../contract.tsx";

const t = defineTexts({
  test: "Test",
  contract: ["Contract", "Vertrag"],
  copyId: ["Copy id", "ID kopieren"],
  deleteTitle: ["Delete this endpoint?", "Diesen Endpunkt löschen?"],
  deleteHint: [
    "Its backlog becomes dead letters and its secrets are deleted. The delivery history is kept. This cannot be undone.",
    "Der Rückstand wird zu Dead Letters, die Secrets werden gelöscht. Der Verlauf der Zustellungen bleibt erhalten. Das lässt sich nicht rückgängig machen.",
  ],
  deleted: ["Endpoint deleted.", "Endpunkt gelöscht."],
  subscription: ["WebSub subscription", "WebSub-Abonnement"],
  endHint: [
    "The subscriber is notified and receives no further events. It can subscribe again while the topic is public.",
    "Der Abonnent wird benachrichtigt und erhält keine weiteren Ereignisse. Solange das Topic öffentlich ist, kann er erneut abonnieren.",
  ],
});

const REFRESH_MS = 5_000;
const TABS = ["overview", "contract", "secrets", "filter", "test", "settings"] as const;
/** Tabs that need no permission to manage endpoints. */
const READ_TABS = TABS.slice(0, 2);

export function EndpointPage() {
  const portalTenant = usePortalTenant();
  const { tenant = portalTenant ?? "", id = "" } = useParams({ strict: false });
  const query = useApi("endpoints.get", { tenant, endpoint: id }, { refetchInterval: REFRESH_MS });
  return query.data === undefined ? (
    <NotLoaded query={query} />
  ) : (
    <Detail endpoint={query.data} isPortal={portalTenant !== null} />
  );
}

function Detail({ endpoint, isPortal }: { readonly endpoint: Endpoint; readonly isPortal: boolean }) {
  const { tenant, id } = endpoint;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canManage = useHasScope("webhooks:manage");
  const isSubscription = endpoint.websub !== null;
  const canBeChanged = canManage && !isSubscription;
  const tabs = canBeChanged ? TABS : isSubscription ? TABS.slice(0, 1) : READ_TABS;
  const { filters } = useFilters();
  const tab = tabs.find((name) => name === filters.tab) ?? TABS[0];
  const remove = async () => {
    await api.endpoints.delete({ tenant, endpoint: id });
    showToast(t.deleted);
    await (isPortal ? navigate({ to: "/" }) : navigate({ to: "/tenants/$tenant", params: { tenant } }));
    queries.removeQueries({ queryKey: apiKey("endpoints.get", { tenant, endpoint: id }) });
  };
  return (
    <Page
      title={endpoint.name}
      lead={
        <span className="flex flex-wrap items-center gap-2">
          <EndpointBadge endpoint={endpoint} />
          {isSubscription && <Badge tone="plain">{t.subscription}</Badge>}
          {!isPortal && <TenantLink tenant={tenant} />}
          <span className="font-mono break-all">{endpoint.url}</span>
          {endpoint.description}
        </span>
      }
      actions={
        <>
          <CopyButton text={id} label={t.copyId} />
          {canBeChanged && <EndpointSwitch endpoint={endpoint} />}
          {canManage && (
            <ConfirmButton
              kind="danger"
              title={isSubscription ? t.endSubscription : t.deleteTitle}
              action={t.delete}
              hint={isSubscription ? t.endHint : t.deleteHint}
              typed={new URL(endpoint.url).host}
              onConfirm={remove}
            />
          )}
        </>
      }
    >
      {tabs.length > 1 && <Tabs tabs={tabs} current={tab} />}
      {tab === "overview" && <EndpointOverview endpoint={endpoint} />}
      {tab === "contract" && <EndpointContract tenant={tenant} endpoint={id} />}
      {tab === "secrets" && <EndpointSecrets endpoint={endpoint} />}
      {tab === "filter" && <EndpointFilter endpoint={endpoint} />}
      {tab === "test" && <TestEvent endpoint={endpoint} />}
      {tab === "settings" && <EndpointSettings endpoint={endpoint} />}
    </Page>
  );
}

/** The current tab is part of the URL. */
function Tabs({
  tabs,
  current,
}: {
  readonly tabs: readonly (typeof TABS)[number][];
  readonly current: (typeof TABS)[number];
}) {
  const { set } = useFilters();
  return (
    <nav aria-label={t.endpoint} className="flex flex-wrap gap-1 border-b border-line">
      {tabs.map((name) => (
        <button
          key={name}
          type="button"
          aria-current={name === current ? "page" : undefined}
          onClick={() => set({ tab: name === TABS[0] ? undefined : name })}
          className={`-mb-px border-b-2 px-3 py-2 text-sm font-medium ${
            name === current ? "border-accent-ink text-ink" : "border-transparent text-muted hover:text-ink"
          }`}
        >
          {t[name]}
        </button>
      ))}
    </nav>
  );
}
