// The event catalogue.
import type { EventType } from "@posthorn/client";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { ImportTypes } from "../../components/catalogue/import-types.tsx";
import { TypeForm } from "../../components/catalogue/type-form.tsx";
import type { Column } from "../../components/list/data-table.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { showError } from "../../components/ui/toasts.tsx";
import { EMPTY_TYPE } from "../../format/event-type-form.ts";

const texts = defineTexts({
  en: {
    title: "Catalogue",
    add: "New event type",
    import: "Import",
    export: (format: string) => `Export ${format}`,
    name: "Event type",
    version: "Version",
    description: "Description",
    changed: "Updated",
    deprecated: "deprecated",
    redacted: "redacted",
    nothing: "The catalogue is empty",
    nothingDetail:
      "Events of any type are accepted. Add event types to show them to customers and to validate event data.",
  },
  de: {
    title: "Katalog",
    add: "Neuer Ereignistyp",
    import: "Importieren",
    export: (format: string) => `${format} exportieren`,
    name: "Ereignistyp",
    version: "Version",
    description: "Beschreibung",
    changed: "Aktualisiert",
    deprecated: "veraltet",
    redacted: "maskiert",
    nothing: "Der Katalog ist leer",
    nothingDetail:
      "Ereignisse jedes Typs werden angenommen. Mit Ereignistypen sehen Kunden, was sie abonnieren können, und Daten werden validiert.",
  },
});

const EXPORTS = { openapi: "OpenAPI", asyncapi: "AsyncAPI" } as const;

export function Catalogue() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const [opened, setOpened] = useState<"new" | "import" | null>(null);
  const list = useList(["event-types"], (page, signal) => api.eventTypes.list({ query: page, signal }));
  const open = (name: string, version: string) =>
    void navigate({ to: "/catalogue/$name", params: { name }, search: { version } });
  const columns: readonly Column<EventType>[] = [
    {
      key: "name",
      head: t.name,
      cell: ({ name, api_version, deprecated, redact }) => (
        <span className="flex items-center gap-2">
          <Link
            to="/catalogue/$name"
            params={{ name }}
            search={{ version: api_version }}
            className="font-mono text-xs underline-offset-2 hover:underline"
          >
            {name}
          </Link>
          {deprecated && (
            <Badge tone="warn" icon="warning">
              {t.deprecated}
            </Badge>
          )}
          {redact.length > 0 && (
            <Badge tone="calm" icon="lock">
              {t.redacted}
            </Badge>
          )}
        </span>
      ),
    },
    { key: "version", head: t.version, cell: ({ api_version }) => api_version },
    { key: "description", head: t.description, from: "md", cell: ({ description }) => description ?? "–" },
    { key: "changed", head: t.changed, from: "sm", cell: ({ updated_at }) => <Ago at={updated_at} /> },
  ];
  return (
    <ListPage
      title={t.title}
      actions={
        <>
          {(Object.keys(EXPORTS) as (keyof typeof EXPORTS)[]).map((format) => (
            <Button key={format} onClick={() => void save(format)}>
              {t.export(EXPORTS[format])}
            </Button>
          ))}
          <Button onClick={() => setOpened("import")}>{t.import}</Button>
          <Button kind="primary" icon="plus" onClick={() => setOpened("new")}>
            {t.add}
          </Button>
        </>
      }
      list={list}
      columns={columns}
      keyOf={({ name, api_version }) => `${name}:${api_version}`}
      onOpen={({ name, api_version }) => open(name, api_version)}
      nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
    >
      {opened === "new" && (
        <TypeForm title={t.add} initial={EMPTY_TYPE} onClose={() => setOpened(null)} onSaved={open} />
      )}
      {opened === "import" && <ImportTypes onClose={() => setOpened(null)} />}
    </ListPage>
  );
}

/** Downloads by script: a link cannot send the header that a session needs. */
async function save(format: keyof typeof EXPORTS): Promise<void> {
  try {
    const document_ = await api.eventTypes.export({ query: { format } });
    const url = URL.createObjectURL(
      new Blob([JSON.stringify(document_, null, 2)], { type: "application/json" }),
    );
    const link = document.createElement("a");
    link.href = url;
    link.download = `${format}.json`;
    link.click();
    URL.revokeObjectURL(url);
  } catch (error) {
    showError(error);
  }
}
