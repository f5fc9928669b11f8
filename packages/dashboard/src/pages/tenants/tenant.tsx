// A tenant: endpoints, members, name, WebSub topics and portal access.
import type { Endpoint, Tenant } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { type Rows, useList } from "../../api/list.ts";
import { useSubmission } from "../../api/problems.ts";
import { useTenantChange, useTenantSwitch } from "../../api/tenants.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { useEndpointColumns } from "../../components/endpoint/endpoint-columns.tsx";
import { NewEndpoint } from "../../components/endpoint/new-endpoint.tsx";
import { ListView } from "../../components/list/list.tsx";
import { TenantMembers } from "../../components/tenant/members.tsx";
import { OpenPortal } from "../../components/tenant/open-portal.tsx";
import { TenantBadge } from "../../components/tenant/tenant-badge.tsx";
import { TenantWebSub } from "../../components/tenant/websub.tsx";
import { Button, buttonClass } from "../../components/ui/button.tsx";
import { Confirm } from "../../components/ui/confirm.tsx";
import { TextField } from "../../components/ui/field.tsx";
import { Page, Panel } from "../../components/ui/panel.tsx";
import { Failed, Loading, NothingYet } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { showToast } from "../../components/ui/toasts.tsx";

const texts = defineTexts({
  en: {
    name: "Name",
    nameHint: "Display name.",
    save: "Save",
    saved: "Saved.",
    on: "Activate",
    off: "Deactivate",
    made: "Created",
    deliveries: "Deliveries",
    endpoints: "Endpoints",
    add: "New endpoint",
    noEndpoints: "No endpoints yet",
    noEndpointsDetail: "Events of this tenant are stored but not delivered.",
    delete: "Delete",
    deleteTitle: (id: string) => `Delete ${id}?`,
    deleteHint:
      "Its members, keys and WebSub subscriptions are deleted. Events and deliveries are kept for the usual retention period.",
    notEmpty: "Delete the tenant's endpoints first.",
    deleted: (id: string) => `Tenant ${id} deleted.`,
  },
  de: {
    name: "Name",
    nameHint: "Anzeigename.",
    save: "Speichern",
    saved: "Gespeichert.",
    on: "Aktivieren",
    off: "Deaktivieren",
    made: "Erstellt",
    deliveries: "Zustellungen",
    endpoints: "Endpunkte",
    add: "Neuer Endpunkt",
    noEndpoints: "Noch keine Endpunkte",
    noEndpointsDetail: "Ereignisse dieses Mandanten werden gespeichert, aber nicht zugestellt.",
    delete: "Löschen",
    deleteTitle: (id: string) => `${id} löschen?`,
    deleteHint:
      "Mitglieder, Schlüssel und WebSub-Abonnements werden gelöscht. Ereignisse und Zustellungen bleiben für die übliche Aufbewahrungsfrist erhalten.",
    notEmpty: "Löschen Sie zuerst die Endpunkte des Mandanten.",
    deleted: (id: string) => `Mandant ${id} gelöscht.`,
  },
});

export function TenantPage() {
  const { tenant: id = "" } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ["tenant", id],
    queryFn: ({ signal }) => api.tenants.get({ tenant: id, signal }),
  });
  if (query.data !== undefined) return <Detail key={id} tenant={query.data} />;
  if (query.error === null) return <Loading />;
  return <Failed error={query.error} onRetry={() => void query.refetch()} />;
}

function Detail({ tenant }: { readonly tenant: Tenant }) {
  const t = useTexts(texts);
  const { id } = tenant;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const toggleActive = useTenantSwitch();
  const columns = useEndpointColumns({ isOfOneTenant: true });
  const [isAdding, setAdding] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const list = useList(["endpoints", { tenant: id }], (page, signal) =>
    api.endpoints.list({ tenant: id, query: page, signal }),
  );
  const openEndpoint = (endpoint: string) =>
    void navigate({ to: "/tenants/$tenant/endpoints/$id", params: { tenant: id, id: endpoint } });
  const remove = async () => {
    await api.tenants.delete({ tenant: id });
    showToast(t.deleted(id));
    await navigate({ to: "/tenants" });
    queries.removeQueries({ queryKey: ["tenant", id] });
    await queries.invalidateQueries({ queryKey: ["tenants"] });
  };
  const isEmpty = !list.isLoading && areAllSubscriptions(list.rows);
  return (
    <Page
      title={tenant.name ?? id}
      lead={
        <span className="flex flex-wrap items-center gap-2">
          <TenantBadge tenant={tenant} />
          <code className="font-mono text-xs">{id}</code>
          <span>
            {t.made} <Ago at={tenant.created_at} />
          </span>
        </span>
      }
      actions={
        <>
          <OpenPortal tenant={id} />
          <Link to="/deliveries" search={{ tenant: id }} className={buttonClass()}>
            {t.deliveries}
          </Link>
          <Button icon={tenant.is_active ? "pause" : "check"} onClick={() => void toggleActive(tenant)}>
            {tenant.is_active ? t.off : t.on}
          </Button>
          <Button
            kind="danger"
            disabledReason={isEmpty ? undefined : t.notEmpty}
            onClick={() => setDeleting(true)}
          >
            {t.delete}
          </Button>
        </>
      }
    >
      <Panel
        title={t.endpoints}
        isFlush
        actions={
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            {t.add}
          </Button>
        }
      >
        <ListView
          label={t.endpoints}
          list={list}
          columns={columns}
          keyOf={(endpoint) => endpoint.id}
          onOpen={(endpoint) => openEndpoint(endpoint.id)}
          nothingYet={<NothingYet title={t.noEndpoints}>{t.noEndpointsDetail}</NothingYet>}
        />
      </Panel>
      <TenantMembers tenant={id} />
      <NamePanel key={tenant.name} tenant={tenant} />
      <TenantWebSub tenant={tenant} />
      {isAdding && <NewEndpoint tenant={id} onClose={() => setAdding(false)} onCreated={openEndpoint} />}
      {isDeleting && (
        <Confirm
          title={t.deleteTitle(id)}
          action={t.delete}
          typed={id}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>{t.deleteHint}</p>
        </Confirm>
      )}
    </Page>
  );
}

/** Subscriptions are deleted with their tenant. For rows that are not loaded the server decides. */
function areAllSubscriptions(rows: Rows<Endpoint>): boolean {
  const held = Array.from({ length: rows.length }, (_, index) => rows.at(index));
  return held.every((endpoint) => endpoint === undefined || endpoint.websub !== null);
}

function NamePanel({ tenant }: { readonly tenant: Tenant }) {
  const t = useTexts(texts);
  const change = useTenantChange();
  const [name, setName] = useState(tenant.name ?? "");
  const { isBusy, problems, submit } = useSubmission();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const body = { name: name.trim() === "" ? null : name.trim() };
    await submit(() => change(tenant, body, t.saved));
  };
  return (
    <Panel>
      <form onSubmit={(event) => void save(event)} className="flex flex-wrap items-start gap-3">
        <div className="min-w-48 flex-1">
          <TextField
            label={t.name}
            hint={t.nameHint}
            maxLength={200}
            value={name}
            problem={problems.at("/name")}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <Button type="submit" className="mt-6" isBusy={isBusy}>
          {t.save}
        </Button>
      </form>
    </Panel>
  );
}
