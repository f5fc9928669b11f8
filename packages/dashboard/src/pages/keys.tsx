// API keys and member tokens: created, shown once, revoked.

import { SCOPES } from "@posthorn/wire";
import { useState } from "react";
import { api } from "../api/client.ts";
import { useList } from "../api/list.ts";
import { useFilters } from "../app/filters.ts";
import { defineTexts } from "../app/texts.ts";
import { ListPage } from "../components/list/list-page.tsx";
import { Badge } from "../components/ui/badge.tsx";
import { CopyLine } from "../components/ui/copy.tsx";
import { ConfirmButton, DialogButton, FormDialog } from "../components/ui/dialog.tsx";
import { TextField, Tick, useForm } from "../components/ui/field.tsx";
import { Ago } from "../components/ui/time.tsx";
import { showToast } from "../components/ui/toasts.tsx";

const t = defineTexts({
  add: ["New key", "Neuer Schlüssel"],
  nameHint: ["For your reference.", "Zur Unterscheidung."],
  tenantHint: [
    "Restricts the key to one tenant. Empty gives access to all tenants.",
    "Beschränkt den Schlüssel auf einen Mandanten. Leer: Zugriff auf alle Mandanten.",
  ],
  scopes: ["Scopes", "Berechtigungen"],
  expiresHint: ["Empty for no expiry.", "Leer: kein Ablauf."],
  never: ["never", "nie"],
  used: ["Last used", "Zuletzt benutzt"],
  token: ["member token", "Mitglieds-Token"],
  createdTitle: ["Key created", "Schlüssel erstellt"],
  createdHint: [
    "This key is shown only once. Store it securely.",
    "Dieser Schlüssel wird nur einmal angezeigt. Bewahren Sie ihn sicher auf.",
  ],
  revokeSure: ["Revoke “{name}”?", "„{name}“ widerrufen?"],
  revokeHint: [
    "The key stops working within a second. This cannot be undone.",
    "Der Schlüssel wird innerhalb einer Sekunde ungültig. Das lässt sich nicht rückgängig machen.",
  ],
  revoked: ["Key revoked.", "Schlüssel widerrufen."],
  nothing: ["No keys other than the admin key", "Keine Schlüssel außer dem Admin-Schlüssel"],
  pickScope: ["Choose at least one scope.", "Wählen Sie mindestens eine Berechtigung."],
  events: {
    "events:publish": ["publish events", "Ereignisse veröffentlichen"],
    "webhooks:manage": ["manage endpoints", "Endpunkte verwalten"],
    "deliveries:read": ["read events and deliveries", "Ereignisse und Zustellungen lesen"],
    "deliveries:retry": ["retry, cancel and replay", "erneut versuchen, abbrechen, Replays"],
    "payloads:read": ["read redacted data", "maskierte Daten lesen"],
    admin: ["everything", "alles"],
  },
});

export function Keys() {
  const { filters } = useFilters();
  const list = useList("keys.list", { query: filters });
  return (
    <ListPage
      title={t.apiKeys}
      actions={
        <DialogButton kind="primary" icon="plus" label={t.add}>
          <NewKey />
        </DialogButton>
      }
      filterBy={["tenant"]}
      list={list}
      columns={[
        {
          key: "name",
          head: t.name,
          share: 2,
          cell: ({ name, user }) => (
            <>
              {name} {user !== null && <Badge tone="calm">{t.token}</Badge>}
            </>
          ),
        },
        { key: "tenant", head: t.tenant, from: "sm", share: 1, cell: ({ tenant }) => tenant ?? t.all },
        {
          key: "scopes",
          head: t.scopes,
          from: "lg",
          share: 2,
          cell: ({ scopes, role }) => role ?? scopes.join(", "),
        },
        {
          key: "expires",
          head: t.expires,
          from: "md",
          cell: ({ expires_at }) => (expires_at === null ? t.never : <Ago at={expires_at} />),
        },
        {
          key: "used",
          head: t.used,
          from: "md",
          cell: ({ last_used_at }) => (last_used_at === null ? t.never : <Ago at={last_used_at} />),
        },
        {
          key: "revoke",
          head: t.revoke,
          cell: ({ id, name }) => (
            <ConfirmButton
              kind="quiet"
              title={t.revokeSure({ name })}
              action={t.revoke}
              hint={t.revokeHint}
              onConfirm={() => revoke(id)}
            />
          ),
        },
      ]}
      nothing={t.nothing}
    />
  );
}

function NewKey() {
  const form = useForm({ name: "", tenant: "", expiresAt: "" });
  const [scopes, setScopes] = useState<ReadonlySet<(typeof SCOPES)[number]>>(new Set());
  const create = async () => {
    const { name, tenant, expiresAt } = form.form;
    const { key } = await api.keys.create({
      body: {
        name,
        scopes: [...scopes],
        ...(tenant !== "" && { tenant }),
        ...(expiresAt !== "" && { expires_at: new Date(expiresAt).toISOString() }),
      },
    });
    return (
      <>
        <CopyLine text={key} />
        <p className="text-muted">{t.createdHint}</p>
      </>
    );
  };
  return (
    <FormDialog
      title={t.add}
      action={t.create}
      form={form}
      disabledReason={scopes.size === 0 ? t.pickScope : undefined}
      resultTitle={t.createdTitle}
      onSubmit={create}
    >
      <TextField label={t.name} hint={t.nameHint} required maxLength={200} {...form.field("name")} />
      <TextField label={t.tenant} hint={t.tenantHint} {...form.field("tenant")} />
      <fieldset className="flex flex-col gap-1.5">
        <legend className="pb-1 text-sm font-medium">{t.scopes}</legend>
        {SCOPES.map((scope) => (
          <Tick
            key={scope}
            label={scope}
            hint={t.events[scope]}
            checked={scopes.has(scope)}
            onChange={(isChosen) =>
              setScopes(new Set(SCOPES.filter((one) => (one === scope ? isChosen : scopes.has(one)))))
            }
          />
        ))}
      </fieldset>
      <TextField label={t.expires} hint={t.expiresHint} type="datetime-local" {...form.field("expiresAt")} />
    </FormDialog>
  );
}

async function revoke(key: string): Promise<void> {
  await api.keys.revoke({ key });
  showToast(t.revoked);
}
