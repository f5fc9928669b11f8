// An event type: description, schema, redaction and subscribers.
import type { EventTypeDetail } from "@posthorn/client";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { TypeForm } from "../../components/catalogue/type-form.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { buttonClass } from "../../components/ui/button.tsx";
import { ConfirmButton, DialogButton } from "../../components/ui/dialog.tsx";
import { Select } from "../../components/ui/field.tsx";
import { JsonView } from "../../components/ui/json-view.tsx";
import { EndpointLink, EndpointName, TenantLink } from "../../components/ui/links.tsx";
import { NotLoaded, Page, Panel } from "../../components/ui/page.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { showToast } from "../../components/ui/toasts.tsx";
import { formOfType } from "../../format/event-type-form.ts";
import { matchesType } from "../../format/subscription.ts";

const t = defineTexts({
  events: ["Events of this type", "Ereignisse dieses Typs"],
  delete: ["Delete version", "Version löschen"],
  deleteTitle: ["Delete version {version} of {name}?", "Version {version} von {name} löschen?"],
  deleteHint: [
    "Published events are kept and stay redacted. With a strict catalogue, further events of this version are rejected.",
    "Veröffentlichte Ereignisse bleiben erhalten und maskiert. Bei einem strikten Katalog werden weitere Ereignisse dieser Version abgelehnt.",
  ],
  deleted: ["Version deleted.", "Version gelöscht."],
  schema: "Schema",
  noSchema: ["No schema: any data is accepted.", "Kein Schema: Beliebige Daten werden angenommen."],
  noExample: ["No example.", "Kein Beispiel."],
  redact: ["Redacted paths (visible with payloads:read)", "Maskierte Pfade (sichtbar mit payloads:read)"],
  noRedact: ["Nothing is redacted.", "Nichts ist maskiert."],
  subscribers: ["Subscribed endpoints", "Abonnierende Endpunkte"],
  unsubscribed: ["No endpoint is subscribed.", "Kein Endpunkt hat diesen Typ abonniert."],
  ofNewest: ["Among the newest {count} endpoints.", "Unter den neuesten {count} Endpunkten."],
});

export function EventTypePage() {
  const { name = "" } = useParams({ strict: false });
  const { filters } = useFilters();
  const { version } = filters;
  const query = useApi("eventTypes.get", {
    name,
    query: version === undefined ? {} : { api_version: version },
  });
  return query.data === undefined ? <NotLoaded query={query} /> : <Detail type={query.data} />;
}

function Detail({ type }: { readonly type: EventTypeDetail }) {
  const { set } = useFilters();
  const navigate = useNavigate();
  const remove = async () => {
    await api.eventTypes.delete({ name: type.name, query: { api_version: type.api_version } });
    showToast(t.deleted);
    await navigate({ to: "/catalogue" });
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
            {t.updated} <Ago at={type.updated_at} />
          </span>
        </span>
      }
      actions={
        <>
          <Select
            aria-label={t.version}
            options={type.versions.map((version) => [version, `${t.version} ${version}`])}
            value={type.api_version}
            onChange={(event) => set({ version: event.target.value })}
          />
          <Link to="/events" search={{ type: type.name }} className={buttonClass()}>
            {t.events}
          </Link>
          <DialogButton label={t.edit}>
            <TypeForm
              title={type.name}
              initial={formOfType(type)}
              onSaved={(_, version) => set({ version })}
            />
          </DialogButton>
          <ConfirmButton
            kind="danger"
            title={t.deleteTitle({ name: type.name, version: type.api_version })}
            action={t.delete}
            hint={t.deleteHint}
            onConfirm={remove}
          />
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
    </Page>
  );
}

const MAX_ENDPOINTS = 250;

function Subscribers({ type }: { readonly type: string }) {
  const { data } = useApi("endpoints.listAll", { query: { limit: MAX_ENDPOINTS } });
  const subscribed = data?.data.filter(({ events }) => matchesType(events, type));
  return (
    <Panel title={t.subscribers}>
      {subscribed?.length === 0 && <p className="text-muted">{t.unsubscribed}</p>}
      <ul className="flex flex-col gap-1">
        {subscribed?.map(({ id, tenant, name, url }) => (
          <li key={id} className="flex min-w-0 gap-2">
            <TenantLink tenant={tenant} />
            <EndpointLink tenant={tenant} id={id} className="truncate underline">
              <EndpointName name={name} url={url} />
            </EndpointLink>
          </li>
        ))}
      </ul>
      {data !== undefined && data.next_cursor !== null && (
        <p className="pt-2 text-xs text-muted">{t.ofNewest({ count: MAX_ENDPOINTS })}</p>
      )}
    </Panel>
  );
}
