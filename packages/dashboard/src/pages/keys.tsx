// API keys and member tokens: created, shown once, revoked.
import type { Key } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../api/client.ts";
import { useList } from "../api/list.ts";
import { useSubmission } from "../api/problems.ts";
import { useFilters } from "../app/filters.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import type { Column } from "../components/list/data-table.tsx";
import { ListPage } from "../components/list/list-page.tsx";
import { Badge } from "../components/ui/badge.tsx";
import { Button } from "../components/ui/button.tsx";
import { Confirm } from "../components/ui/confirm.tsx";
import { CopyLine } from "../components/ui/copy.tsx";
import { Dialog } from "../components/ui/dialog.tsx";
import { TextField, Tick } from "../components/ui/field.tsx";
import { ProblemList } from "../components/ui/problem-list.tsx";
import { NothingYet } from "../components/ui/states.tsx";
import { Ago } from "../components/ui/time.tsx";
import { showToast } from "../components/ui/toasts.tsx";

const SCOPES = [
  "events:publish",
  "webhooks:manage",
  "deliveries:read",
  "deliveries:retry",
  "payloads:read",
  "admin",
] as const satisfies readonly Key["scopes"][number][];

const texts = defineTexts({
  en: {
    title: "API keys",
    add: "New key",
    name: "Name",
    nameHint: "For your reference.",
    tenant: "Tenant",
    tenantHint: "Restricts the key to one tenant. Empty gives access to all tenants.",
    installation: "all",
    scopes: "Scopes",
    expires: "Expires",
    expiresHint: "Empty for no expiry.",
    never: "never",
    used: "Last used",
    token: "member token",
    make: "Create",
    createdTitle: "Key created",
    createdHint: "This key is shown only once. Store it securely.",
    revoke: "Revoke",
    revokeSure: (name: string) => `Revoke “${name}”?`,
    revokeHint: "The key stops working within a second. This cannot be undone.",
    revoked: "Key revoked.",
    nothing: "No keys besides the admin key",
    pickScope: "Choose at least one scope.",
    events: {
      "events:publish": "publish events",
      "webhooks:manage": "manage endpoints",
      "deliveries:read": "read events and deliveries",
      "deliveries:retry": "retry, cancel and replay",
      "payloads:read": "read redacted data",
      admin: "everything",
    } satisfies Record<(typeof SCOPES)[number], string>,
  },
  de: {
    title: "API-Schlüssel",
    add: "Neuer Schlüssel",
    name: "Name",
    nameHint: "Zur Unterscheidung.",
    tenant: "Mandant",
    tenantHint: "Beschränkt den Schlüssel auf einen Mandanten. Leer: Zugriff auf alle Mandanten.",
    installation: "alle",
    scopes: "Berechtigungen",
    expires: "Läuft ab",
    expiresHint: "Leer: kein Ablauf.",
    never: "nie",
    used: "Zuletzt benutzt",
    token: "Mitglieds-Token",
    make: "Erstellen",
    createdTitle: "Schlüssel erstellt",
    createdHint: "Dieser Schlüssel wird nur einmal angezeigt. Bewahren Sie ihn sicher auf.",
    revoke: "Widerrufen",
    revokeSure: (name: string) => `„${name}“ widerrufen?`,
    revokeHint:
      "Der Schlüssel wird innerhalb einer Sekunde ungültig. Das lässt sich nicht rückgängig machen.",
    revoked: "Schlüssel widerrufen.",
    nothing: "Keine Schlüssel außer dem Admin-Schlüssel",
    pickScope: "Wählen Sie mindestens eine Berechtigung.",
    events: {
      "events:publish": "Ereignisse veröffentlichen",
      "webhooks:manage": "Endpunkte verwalten",
      "deliveries:read": "Ereignisse und Zustellungen lesen",
      "deliveries:retry": "erneut versuchen, abbrechen, Replays",
      "payloads:read": "maskierte Daten lesen",
      admin: "alles",
    },
  },
});

export function Keys() {
  const t = useTexts(texts);
  const { filters } = useFilters();
  const [isAdding, setAdding] = useState(false);
  const [revoking, setRevoking] = useState<Key | null>(null);
  const list = useList(["keys", filters], (page, signal) =>
    api.keys.list({ query: { ...filters, ...page }, signal }),
  );
  const columns: readonly Column<Key>[] = [
    {
      key: "name",
      head: t.name,
      cell: ({ name, user }) => (
        <>
          {name} {user !== null && <Badge tone="calm">{t.token}</Badge>}
        </>
      ),
    },
    { key: "tenant", head: t.tenant, from: "sm", cell: ({ tenant }) => tenant ?? t.installation },
    { key: "scopes", head: t.scopes, from: "lg", cell: ({ scopes, role }) => role ?? scopes.join(", ") },
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
      cell: (key) => (
        <Button kind="quiet" onClick={() => setRevoking(key)}>
          {t.revoke}
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
      filterBy={["tenant"]}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      nothingYet={<NothingYet title={t.nothing} />}
    >
      {isAdding && <NewKey onClose={() => setAdding(false)} />}
      {revoking && <Revoke revoking={revoking} onClose={() => setRevoking(null)} />}
    </ListPage>
  );
}

function NewKey({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [tenant, setTenant] = useState("");
  const [expiresAt, setExpiresAt] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<(typeof SCOPES)[number]>>(new Set());
  const [made, setCreated] = useState<string | null>(null);
  const { isBusy, problems, submit: ask } = useSubmission();
  const make = () =>
    ask(async () => {
      const { key } = await api.keys.create({
        body: {
          name,
          scopes: [...scopes],
          ...(tenant !== "" && { tenant }),
          ...(expiresAt !== "" && { expires_at: new Date(expiresAt).toISOString() }),
        },
      });
      setCreated(key);
      await queries.invalidateQueries({ queryKey: ["keys"] });
    });
  if (made !== null) {
    return (
      <Dialog title={t.createdTitle} isOpen onClose={onClose}>
        <CopyLine text={made} />
        <p className="text-muted">{t.createdHint}</p>
      </Dialog>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void make();
  };
  return (
    <Dialog
      title={t.add}
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          form="new-key"
          type="submit"
          isBusy={isBusy}
          disabledReason={scopes.size === 0 ? t.pickScope : undefined}
        >
          {t.make}
        </Button>
      }
    >
      <form id="new-key" onSubmit={submit} className="flex flex-col gap-3">
        <ProblemList problems={problems.elsewhere([])} />
        <TextField
          label={t.name}
          hint={t.nameHint}
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label={t.tenant}
          hint={t.tenantHint}
          value={tenant}
          onChange={(event) => setTenant(event.target.value)}
        />
        <fieldset className="flex flex-col gap-1.5">
          <legend className="pb-1 text-sm font-medium">{t.scopes}</legend>
          {SCOPES.map((scope) => (
            <Tick
              key={scope}
              label={scope}
              hint={t.events[scope]}
              checked={scopes.has(scope)}
              onChange={(event) => {
                const next = new Set(scopes);
                if (event.target.checked) next.add(scope);
                else next.delete(scope);
                setScopes(next);
              }}
            />
          ))}
        </fieldset>
        <TextField
          label={t.expires}
          hint={t.expiresHint}
          type="datetime-local"
          value={expiresAt}
          onChange={(event) => setExpiresAt(event.target.value)}
        />
      </form>
    </Dialog>
  );
}

function Revoke({ revoking, onClose }: { readonly revoking: Key; readonly onClose: () => void }) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const revoke = async () => {
    try {
      await api.keys.revoke({ key: revoking.id });
      showToast(t.revoked);
    } finally {
      await queries.invalidateQueries({ queryKey: ["keys"] });
    }
  };
  return (
    <Confirm title={t.revokeSure(revoking.name)} action={t.revoke} onConfirm={revoke} onClose={onClose}>
      <p>{t.revokeHint}</p>
    </Confirm>
  );
}
