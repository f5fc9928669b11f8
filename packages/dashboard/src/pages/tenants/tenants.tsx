// The tenants of the installation.
import type { Tenant } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, BASE_URL } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useSubmission } from "../../api/problems.ts";
import { useTenantSwitch } from "../../api/tenants.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import type { Column } from "../../components/list/data-table.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { TenantBadge } from "../../components/tenant/tenant-badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import { Dialog } from "../../components/ui/dialog.tsx";
import { TextField, Tick } from "../../components/ui/field.tsx";
import { ProblemList } from "../../components/ui/problem-list.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";

const texts = defineTexts({
  en: {
    title: "Tenants",
    add: "New tenant",
    id: "Id",
    idHint: "The customer's id in your application: letters, digits and _ . : @ -",
    name: "Name",
    nameHint: "Optional display name.",
    state: "State",
    created: "Created",
    make: "Create",
    restore: "Restore a deleted tenant",
    restoreHint: "Includes its retained history.",
    on: "Activate",
    off: "Deactivate",
    nothing: "No tenants yet",
    nothingDetail: "A tenant is one of your customers. Create one here or from a terminal:",
  },
  de: {
    title: "Mandanten",
    add: "Neuer Mandant",
    id: "ID",
    idHint: "Die ID des Kunden in Ihrer Anwendung: Buchstaben, Ziffern und _ . : @ -",
    name: "Name",
    nameHint: "Optionaler Anzeigename.",
    state: "Status",
    created: "Erstellt",
    make: "Erstellen",
    restore: "Gelöschten Mandanten wiederherstellen",
    restoreHint: "Einschließlich des aufbewahrten Verlaufs.",
    on: "Aktivieren",
    off: "Deaktivieren",
    nothing: "Noch keine Mandanten",
    nothingDetail: "Ein Mandant ist einer Ihrer Kunden. Erstellen Sie einen hier oder im Terminal:",
  },
});

export function Tenants() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const toggleActive = useTenantSwitch();
  const [isAdding, setAdding] = useState(false);
  const list = useList(["tenants"], (page, signal) => api.tenants.list({ query: page, signal }));
  const open = (id: string) => void navigate({ to: "/tenants/$tenant", params: { tenant: id } });
  const columns: readonly Column<Tenant>[] = [
    {
      key: "id",
      head: t.id,
      cell: ({ id }) => (
        <Link
          to="/tenants/$tenant"
          params={{ tenant: id }}
          className="font-medium underline-offset-2 hover:underline"
        >
          {id}
        </Link>
      ),
    },
    { key: "name", head: t.name, from: "sm", cell: ({ name }) => name ?? "–" },
    { key: "state", head: t.state, cell: (tenant) => <TenantBadge tenant={tenant} /> },
    { key: "created", head: t.created, from: "md", cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      key: "switch",
      head: "",
      cell: (tenant) => (
        <Button kind="quiet" onClick={() => void toggleActive(tenant)}>
          {tenant.is_active ? t.off : t.on}
          <span className="sr-only"> {tenant.id}</span>
        </Button>
      ),
    },
  ];
  return (
    <ListPage
      title={t.title}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
          {t.add}
        </Button>
      }
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ id }) => open(id)}
      nothingYet={
        <NothingYet title={t.nothing} command={`POSTHORN_URL=${BASE_URL} posthorn tenants put acme`}>
          {t.nothingDetail}
        </NothingYet>
      }
    >
      {isAdding && <NewTenant onClose={() => setAdding(false)} onCreated={open} />}
    </ListPage>
  );
}

function NewTenant({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
}) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [restores, setRestores] = useState(false);
  const { isBusy, problems, submit } = useSubmission();
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const body = { ...(name !== "" && { name }), ...(restores && { restore: true }) };
    if (!(await submit(() => api.tenants.put({ tenant: id.trim(), body })))) return;
    await queries.invalidateQueries({ queryKey: ["tenants"] });
    onCreated(id.trim());
  };
  return (
    <Dialog
      title={t.add}
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" type="submit" form="new-tenant" isBusy={isBusy}>
          {t.make}
        </Button>
      }
    >
      <form id="new-tenant" onSubmit={(event) => void make(event)} className="flex flex-col gap-3">
        <ProblemList problems={problems.elsewhere(["/id", "/name"])} />
        <TextField
          label={t.id}
          hint={t.idHint}
          required
          maxLength={128}
          value={id}
          problem={problems.at("/id")}
          onChange={(event) => setId(event.target.value)}
        />
        <TextField
          label={t.name}
          hint={t.nameHint}
          maxLength={200}
          value={name}
          problem={problems.at("/name")}
          onChange={(event) => setName(event.target.value)}
        />
        <Tick
          label={t.restore}
          hint={t.restoreHint}
          checked={restores}
          onChange={(event) => setRestores(event.target.checked)}
        />
      </form>
    </Dialog>
  );
}
