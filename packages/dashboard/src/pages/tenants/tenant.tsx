// A tenant: endpoints, members, name, WebSub topics and portal access.
import type { Endpoint, Member, Tenant } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { type Rows, useList } from "../../api/list.ts";
import { useTenantChange } from "../../api/undo.ts";
import { apiKey, useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { endpointColumns } from "../../components/endpoint/endpoint-columns.tsx";
import { NewEndpoint } from "../../components/endpoint/new-endpoint.tsx";
import { ListPanel } from "../../components/list/list-page.tsx";
import { TenantMembers } from "../../components/tenant/members.tsx";
import { TenantBadge, TenantSwitch } from "../../components/tenant/tenant-state.tsx";
import { TenantWebSub } from "../../components/tenant/websub.tsx";
import { ActionButton } from "../../components/ui/action-button.tsx";
import { Button, buttonClass } from "../../components/ui/button.tsx";
import { CopyLine } from "../../components/ui/copy.tsx";
import { ConfirmButton, DialogButton, FormDialog, useClose } from "../../components/ui/dialog.tsx";
import { Choice, submitted, TextField, useForm } from "../../components/ui/field.tsx";
import { NotLoaded, Page, Panel } from "../../components/ui/page.tsx";
import { Ago, Countdown } from "../../components/ui/time.tsx";
import { showToast } from "../../components/ui/toasts.tsx";

const t = defineTexts({
  nameHint: ["Display name.", "Anzeigename."],
  saved: ["Saved.", "Gespeichert."],
  noEndpointsDetail: [
    "Events of this tenant are stored but not delivered.",
    "Ereignisse dieses Mandanten werden gespeichert, aber nicht zugestellt.",
  ],
  deleteTitle: ["Delete {id}?", "{id} löschen?"],
  deleteHint: [
    "Its members, keys and WebSub subscriptions are deleted. Events and deliveries are kept for the usual retention period.",
    "Mitglieder, Schlüssel und WebSub-Abonnements werden gelöscht. Ereignisse und Zustellungen bleiben für die übliche Aufbewahrungsfrist erhalten.",
  ],
  notEmpty: ["Delete the tenant's endpoints first.", "Löschen Sie zuerst die Endpunkte des Mandanten."],
  deleted: ["Tenant {id} deleted.", "Mandant {id} gelöscht."],
  openPortal: ["Open portal", "Portal öffnen"],
  portalTitle: ["Open the portal as this tenant", "Portal als dieser Mandant öffnen"],
  portalHint: [
    "Creates a link that opens the portal once. Anyone with the link can use it: open it in a private window or send it to the customer.",
    "Erstellt einen Link, der das Portal einmal öffnet. Jeder, der den Link hat, kann ihn verwenden: Öffnen Sie ihn in einem privaten Fenster oder senden Sie ihn dem Kunden.",
  ],
  permissions: ["Permissions", "Berechtigungen"],
  portalRoles: {
    admin: ["manage endpoints, retry and replay", "Endpunkte verwalten, erneut zustellen"],
    member: ["read-only", "nur lesen"],
  },
  createLink: ["Create link", "Link erstellen"],
  portalLink: ["Portal link", "Portal-Link"],
  linkExpires: ["Valid once, expires in", "Einmal gültig, läuft ab in"],
  linkRevoked: ["Link revoked.", "Link widerrufen."],
});

export function TenantPage() {
  const { tenant: id = "" } = useParams({ strict: false });
  const query = useApi("tenants.get", { tenant: id });
  return query.data === undefined ? <NotLoaded query={query} /> : <Detail key={id} tenant={query.data} />;
}

function Detail({ tenant }: { readonly tenant: Tenant }) {
  const { id } = tenant;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const list = useList("endpoints.list", { tenant: id });
  const openEndpoint = (endpoint: string) =>
    void navigate({ to: "/tenants/$tenant/endpoints/$id", params: { tenant: id, id: endpoint } });
  const remove = async () => {
    await api.tenants.delete({ tenant: id });
    showToast(t.deleted({ id }));
    await navigate({ to: "/tenants" });
    queries.removeQueries({ queryKey: apiKey("tenants.get", { tenant: id }) });
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
            {t.created} <Ago at={tenant.created_at} />
          </span>
        </span>
      }
      actions={
        <>
          <DialogButton icon="endpoint" label={t.openPortal}>
            <MakeLink tenant={id} />
          </DialogButton>
          <Link to="/deliveries" search={{ tenant: id }} className={buttonClass()}>
            {t.deliveries}
          </Link>
          <TenantSwitch icon={tenant.is_active ? "pause" : "check"} tenant={tenant} />
          <ConfirmButton
            kind="danger"
            disabledReason={isEmpty ? undefined : t.notEmpty}
            title={t.deleteTitle({ id })}
            action={t.delete}
            hint={t.deleteHint}
            typed={id}
            onConfirm={remove}
          />
        </>
      }
    >
      <ListPanel
        title={t.endpoints}
        actions={
          <DialogButton kind="primary" icon="plus" label={t.newEndpoint}>
            <NewEndpoint tenant={id} onCreated={openEndpoint} />
          </DialogButton>
        }
        list={list}
        columns={endpointColumns({ isOfOneTenant: true })}
        linkTo={(endpoint) => ({
          to: "/tenants/$tenant/endpoints/$id",
          params: { tenant: id, id: endpoint.id },
        })}
        nothing={t.noEndpoints}
        nothingDetail={t.noEndpointsDetail}
      />
      <TenantMembers tenant={id} />
      <NamePanel key={tenant.name} tenant={tenant} />
      <TenantWebSub tenant={tenant} />
    </Page>
  );
}

/** Subscriptions are deleted with their tenant. For rows that are not loaded the server decides. */
function areAllSubscriptions(rows: Rows<Endpoint>): boolean {
  const held = Array.from({ length: rows.length }, (_, index) => rows.at(index));
  return held.every((endpoint) => endpoint === undefined || endpoint.websub !== null);
}

function NamePanel({ tenant }: { readonly tenant: Tenant }) {
  const change = useTenantChange();
  const { form, field, isBusy, submit } = useForm({ name: tenant.name ?? "" });
  const save = () => submit(() => change(tenant, { name: form.name.trim() || null }, t.saved));
  return (
    <Panel>
      <form onSubmit={submitted(save)} className="flex flex-wrap items-start gap-3">
        <div className="min-w-48 flex-1">
          <TextField label={t.name} hint={t.nameHint} maxLength={200} {...field("name")} />
        </div>
        <Button type="submit" className="mt-6" isBusy={isBusy}>
          {t.save}
        </Button>
      </form>
    </Panel>
  );
}

/** Creates a one-time link to the tenant's portal. */
function MakeLink({ tenant }: { readonly tenant: string }) {
  const close = useClose();
  const form = useForm<{ role: Member["role"] }>({ role: "admin" });
  const revoke = async (id: string) => {
    await api.portalLinks.revoke({ tenant, link: id });
    showToast(t.linkRevoked);
    close();
  };
  const make = async () => {
    const link = await api.portalLinks.create({ tenant, body: form.form });
    return (
      <>
        <CopyLine text={link.url} />
        <p className="flex flex-wrap items-center justify-between gap-2 text-muted">
          <span>
            {t.linkExpires} <Countdown until={link.expires_at} />
          </span>
          <ActionButton kind="quiet" action={() => revoke(link.id)}>
            {t.revoke}
          </ActionButton>
        </p>
      </>
    );
  };
  return (
    <FormDialog
      title={t.portalTitle}
      action={t.createLink}
      form={form}
      resultTitle={t.portalLink}
      onSubmit={make}
    >
      <p>{t.portalHint}</p>
      <Choice label={t.permissions} options={Object.entries(t.portalRoles)} {...form.field("role")} />
    </FormDialog>
  );
}
