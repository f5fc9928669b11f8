// The tenants of the installation.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, BASE_URL } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { defineTexts } from "../../app/texts.ts";
import { ListPage } from "../../components/list/list-page.tsx";
import { TenantBadge, TenantSwitch } from "../../components/tenant/tenant-state.tsx";
import { DialogButton, FormDialog } from "../../components/ui/dialog.tsx";
import { TextField, Tick, useForm } from "../../components/ui/field.tsx";
import { Ago } from "../../components/ui/time.tsx";

const t = defineTexts({
  add: ["New tenant", "Neuer Mandant"],
  idHint: [
    "The customer's id in your application: letters, digits and _ . : @ -",
    "Die ID des Kunden in Ihrer Anwendung: Buchstaben, Ziffern und _ . : @ -",
  ],
  nameHint: ["Optional display name.", "Optionaler Anzeigename."],
  restore: ["Restore a deleted tenant", "Gelöschten Mandanten wiederherstellen"],
  restoreHint: ["Includes its retained history.", "Einschließlich des aufbewahrten Verlaufs."],
  nothing: ["No tenants yet", "Noch keine Mandanten"],
  nothingDetail: [
    "A tenant is one of your customers. Create one here or from a terminal:",
    "Ein Mandant ist einer Ihrer Kunden. Erstellen Sie einen hier oder im Terminal:",
  ],
});

export function Tenants() {
  const navigate = useNavigate();
  const list = useList("tenants.list", {});
  const open = (id: string) => void navigate({ to: "/tenants/$tenant", params: { tenant: id } });
  return (
    <ListPage
      title={t.tenants}
      actions={
        <DialogButton kind="primary" icon="plus" label={t.add}>
          <NewTenant onCreated={open} />
        </DialogButton>
      }
      list={list}
      columns={[
        {
          key: "id",
          head: t.id,
          share: 2,
          cell: ({ id }) => <span className="font-medium">{id}</span>,
        },
        { key: "name", head: t.name, from: "sm", share: 3, cell: ({ name }) => name ?? "–" },
        { key: "state", head: t.state, cell: (tenant) => <TenantBadge tenant={tenant} /> },
        { key: "created", head: t.created, from: "md", cell: ({ created_at }) => <Ago at={created_at} /> },
        {
          key: "switch",
          head: "",
          cell: (tenant) => (
            <TenantSwitch kind="quiet" tenant={tenant}>
              <span className="sr-only"> {tenant.id}</span>
            </TenantSwitch>
          ),
        },
      ]}
      linkTo={({ id }) => ({ to: "/tenants/$tenant", params: { tenant: id } })}
      nothing={t.nothing}
      nothingDetail={t.nothingDetail}
      command={`POSTHORN_URL=${BASE_URL} posthorn tenants put acme`}
    />
  );
}

function NewTenant({ onCreated }: { readonly onCreated: (id: string) => void }) {
  const form = useForm({ id: "", name: "" });
  const [restore, setRestore] = useState(false);
  const create = async () => {
    const { id, name } = form.form;
    const body = { ...(name !== "" && { name }), ...(restore && { restore }) };
    await api.tenants.put({ tenant: id.trim(), body });
    onCreated(id.trim());
  };
  return (
    <FormDialog title={t.add} action={t.create} form={form} onSubmit={create}>
      <TextField label={t.id} hint={t.idHint} required maxLength={128} {...form.field("id")} />
      <TextField label={t.name} hint={t.nameHint} maxLength={200} {...form.field("name")} />
      <Tick label={t.restore} hint={t.restoreHint} checked={restore} onChange={setRestore} />
    </FormDialog>
  );
}
