// An event type: description, schema, redaction and subscribers.
import type { EventTypeDetail } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { TypeForm } from "../../components/catalogue/type-form.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button, buttonClass } from "../../components/ui/button.tsx";
import { Confirm } from "../../components/ui/confirm.tsx";
import { JsonView } from "../../components/ui/json-view.tsx";
import { Page, Panel } from "../../components/ui/panel.tsx";
import { Failed, Loading } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { showToast } from "../../components/ui/toasts.tsx";
import { formOfType } from "../../format/event-type-form.ts";
import { matchesType } from "../../format/subscription.ts";

const texts = defineTexts({
  en: {
    edit: "Edit",
    version: "Version",
    events: "Events of this type",
    delete: "Delete version",
    deleteTitle: (name: string, version: string) => `Delete version ${version} of ${name}?`,
    deleteHint:
      "Published events are kept and stay redacted. With a strict catalogue, further events of this version are rejected.",
    deleted: "Version deleted.",
    deprecated: "deprecated",
    changed: "Updated",
    schema: "Schema",
    noSchema: "No schema: any data is accepted.",
    example: "Example",
    noExample: "No example.",
    redact: "Redacted paths (visible with payloads:read)",
    noRedact: "Nothing is redacted.",
    subscribers: "Subscribed endpoints",
    unsubscribed: "No endpoint is subscribed.",
    ofNewest: (count: number) => `Among the newest ${count} endpoints.`,
  },
  de: {
    edit: "Bearbeiten",
    version: "Version",
    events: "Ereignisse dieses Typs",
    delete: "Version löschen",
    deleteTitle: (name: string, version: string) => `Version ${version} von ${name} löschen?`,
    deleteHint:
      "Veröffentlichte Ereignisse bleiben erhalten und maskiert. Bei einem strikten Katalog werden weitere Ereignisse dieser Version abgelehnt.",
    deleted: "Version gelöscht.",
    deprecated: "veraltet",
    changed: "Aktualisiert",
    schema: "Schema",
    noSchema: "Kein Schema: Beliebige Daten werden angenommen.",
    example: "Beispiel",
    noExample: "Kein Beispiel.",
    redact: "Maskierte Pfade (sichtbar mit payloads:read)",
    noRedact: "Nichts ist maskiert.",
    subscribers: "Abonnierende Endpunkte",
    unsubscribed: "Kein Endpunkt hat diesen Typ abonniert.",
    ofNewest: (count: number) => `Unter den neuesten ${count} Endpunkten.`,
  },
});

export function EventTypePage() {
  const { name = "" } = useParams({ strict: false });
  const { filters } = useFilters();
  const { version } = filters;
  const query = useQuery({
    queryKey: ["event-type", name, version],
    queryFn: ({ signal }) =>
      api.eventTypes.get({ name, query: version === undefined ? {} : { api_version: version }, signal }),
  });
  if (query.data !== undefined) return <Detail type={query.data} />;
  if (query.error === null) return <Loading />;
  return <Failed error={query.error} onRetry={() => void query.refetch()} />;
}

function Detail({ type }: { readonly type: EventTypeDetail }) {
  const t = useTexts(texts);
  const { set } = useFilters();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [opened, setOpened] = useState<"edit" | "delete" | null>(null);
  const remove = async () => {
    await api.eventTypes.delete({ name: type.name, query: { api_version: type.api_version } });
    showToast(t.deleted);
    await navigate({ to: "/catalogue" });
    await queries.invalidateQueries({ queryKey: ["event-types"] });
  };
  return (
    <Page
      title={<span className="font-mono">{type.name}</span>}
      lead={
        <span className="flex flex-wrap items-center gap-2">
          {type.deprecated && (
            <Badge tone="warn" icon="warning">
              {t.deprecated}
            </Badge>
          )}
          {type.description}
          <span>
            {t.changed} <Ago at={type.updated_at} />
          </span>
        </span>
      }
      actions={
        <>
          <select
            aria-label={t.version}
            value={type.api_version}
            onChange={(event) => set({ version: event.target.value })}
            className="rounded-md border border-line bg-surface px-2 py-1.5"
          >
            {type.versions.map((version) => (
              <option key={version} value={version}>
                {t.version} {version}
              </option>
            ))}
          </select>
          <Link to="/events" search={{ type: type.name }} className={buttonClass()}>
            {t.events}
          </Link>
          <Button onClick={() => setOpened("edit")}>{t.edit}</Button>
          <Button kind="danger" onClick={() => setOpened("delete")}>
            {t.delete}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
        <Panel title={t.schema}>
          {type.schema === null ? (
            <p className="text-muted">{t.noSchema}</p>
          ) : (
            <JsonView label={t.schema} value={type.schema} />
          )}
        </Panel>
        <Panel title={t.example}>
          {type.example === null ? (
            <p className="text-muted">{t.noExample}</p>
          ) : (
            <JsonView label={t.example} value={JSON.stringify(type.example, null, 2)} />
          )}
        </Panel>
        <Panel title={t.redact}>
          {type.redact.length === 0 && <p className="text-muted">{t.noRedact}</p>}
          <ul className="font-mono text-xs">
            {type.redact.map((path) => (
              <li key={path}>{path}</li>
            ))}
          </ul>
        </Panel>
        <Subscribers type={type.name} />
      </div>
      {opened === "edit" && (
        <TypeForm
          title={type.name}
          initial={formOfType(type)}
          onClose={() => setOpened(null)}
          onSaved={(_, version) => {
            setOpened(null);
            set({ version });
          }}
        />
      )}
      {opened === "delete" && (
        <Confirm
          title={t.deleteTitle(type.name, type.api_version)}
          action={t.delete}
          onConfirm={remove}
          onClose={() => setOpened(null)}
        >
          <p>{t.deleteHint}</p>
        </Confirm>
      )}
    </Page>
  );
}

const MAX_ENDPOINTS = 250;

function Subscribers({ type }: { readonly type: string }) {
  const t = useTexts(texts);
  const { data } = useQuery({
    queryKey: ["endpoints", "subscribers"],
    queryFn: ({ signal }) => api.endpoints.listAll({ query: { limit: MAX_ENDPOINTS }, signal }),
  });
  const subscribed = data?.data.filter(({ events }) => matchesType(events, type));
  return (
    <Panel title={t.subscribers}>
      {subscribed?.length === 0 && <p className="text-muted">{t.unsubscribed}</p>}
      <ul className="flex flex-col gap-1">
        {subscribed?.map(({ id, tenant, url }) => (
          <li key={id} className="flex min-w-0 gap-2">
            <Link to="/tenants/$tenant" params={{ tenant }} className="underline">
              {tenant}
            </Link>
            <Link
              to="/tenants/$tenant/endpoints/$id"
              params={{ tenant, id }}
              className="truncate font-mono text-xs underline"
            >
              {url}
            </Link>
          </li>
        ))}
      </ul>
      {data !== undefined && data.next_cursor !== null && (
        <p className="pt-2 text-xs text-muted">{t.ofNewest(MAX_ENDPOINTS)}</p>
      )}
    </Panel>
  );
}
