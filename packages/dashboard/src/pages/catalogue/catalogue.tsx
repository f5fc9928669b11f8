// The event catalogue.
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { download } from "../../api/download.ts";
import { useList } from "../../api/list.ts";
import { defineTexts } from "../../app/texts.ts";
import { ImportTypes } from "../../components/catalogue/import-types.tsx";
import { TypeForm } from "../../components/catalogue/type-form.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { Button } from "../../components/ui/button.tsx";
import { DialogButton } from "../../components/ui/dialog.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { showError } from "../../components/ui/toasts.tsx";
import { EMPTY_TYPE, versionKey } from "../../format/event-type-form.ts";

const t = defineTexts({
  add: ["New event type", "Neuer Ereignistyp"],
  export: ["Export {format}", "{format} exportieren"],
  redacted: ["redacted", "maskiert"],
  nothing: ["The catalogue is empty", "Der Katalog ist leer"],
  nothingDetail: [
    "Events of any type are accepted. Add event types to show them to customers and to validate event data.",
    "Ereignisse jedes Typs werden angenommen. Legen Sie Ereignistypen an, damit Kunden sie sehen und die Daten validiert werden.",
  ],
});

const EXPORTS = { openapi: "OpenAPI", asyncapi: "AsyncAPI" } as const;

export function Catalogue() {
  const navigate = useNavigate();
  const list = useList("eventTypes.list", {}, { keyOf: versionKey });
  const open = (name: string, version: string) =>
    void navigate({ to: "/catalogue/$name", params: { name }, search: { version } });
  return (
    <ListPage
      title={t.catalogue}
      actions={
        <>
          {(Object.keys(EXPORTS) as (keyof typeof EXPORTS)[]).map((format) => (
            <Button key={format} onClick={() => void save(format)}>
              {t.export({ format: EXPORTS[format] })}
            </Button>
          ))}
          <DialogButton label={t.import}>
            <ImportTypes />
          </DialogButton>
          <DialogButton kind="primary" icon="plus" label={t.add}>
            <TypeForm title={t.add} initial={EMPTY_TYPE} onSaved={open} />
          </DialogButton>
        </>
      }
      list={list}
      columns={[
        {
          key: "name",
          head: t.eventType,
          share: 2,
          cell: ({ name, deprecated, redact }) => (
            <span className="flex items-center gap-2">
              <code>{name}</code>
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
        {
          key: "description",
          head: t.description,
          from: "md",
          share: 3,
          cell: ({ description }) => description ?? "–",
        },
        { key: "changed", head: t.updated, from: "sm", cell: ({ updated_at }) => <Ago at={updated_at} /> },
      ]}
      linkTo={({ name, api_version }) => ({
        to: "/catalogue/$name",
        params: { name },
        search: { version: api_version },
      })}
      nothing={t.nothing}
      nothingDetail={t.nothingDetail}
    />
  );
}

async function save(format: keyof typeof EXPORTS): Promise<void> {
  try {
    const document_ = await api.eventTypes.export({ query: { format } });
    const content = new Blob([JSON.stringify(document_, null, 2)], { type: "application/json" });
    download(content, `${format}.json`);
  } catch (error) {
    showError(error);
  }
}
